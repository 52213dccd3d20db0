import HTTP
import JSON
import Testing

@testable import API

@Suite struct `A native route` {
    private let door = Door()

    @Test(arguments: [
        #"{"Email":"a@b.c","FirstName":"Ann"}"#, #"{"email":"a@b.c","firstName":"Ann"}"#,
        #"{"EMAIL":"a@b.c","FIRSTNAME":"Ann","LastName":"x","more":{"deep":1}}"#,
        #"{"eMail":"a@b.c","firstname":"Ann","response":null}"#,
    ])
    func `a native route matches members without case and ignores unknown ones`(_ body: String)
        async
    {
        let answer = await door.ask(body)
        #expect(answer.json == ["Email": "a@b.c", "FirstName": "Ann"])
        #expect(answer.response.headers["Cache-Control"] == "no-store")
    }

    @Test func `a native route matches nested members without case`() async {
        let answer = await door.ask(
            #"{"Email":"a","RESPONSE":{"ClientDataJson":"x","y":1}}"#)
        #expect(answer.json == ["Email": "a", "Response": ["clientDataJSON": "x"]])
    }

    @Test(arguments: [
        #"{"Email":"a","email":"b"}"#, #"{"Email":null,"email":"b"}"#, #"{"Email":"a\u0000"}"#,
        #"{"Email":1}"#, #"{"Email":""}"#, #"{"FirstName":"Ann"}"#, #"{"Ema\u0131l":"a"}"#,
        #"{"\u212Aey":1}"#, "[]", "null", "", "{", #"{"Email":null}"#,
        #"{"Email":"a","Response":[]}"#,
    ])
    func `a native route refuses a malformed body with one sentence`(_ body: String) async throws {
        let answer = await door.ask(body)
        #expect(answer.status == .badRequest, "\(body)")
        #expect(answer.json["error"]?.string?.isEmpty == false, "\(body)")
        try Problem.nativeSmallSchema.check(answer.json)
    }

    @Test func `a native route names a missing member in the app's spelling`() async {
        let answer = await door.ask("{}")
        #expect(answer.json == ["error": "Email is required."])
    }

    @Test func `a native route's refusal has its code in the title`() async throws {
        let answer = await door.ask(#"{"Email":"a","FirstName":"off"}"#)
        #expect(answer.status == .badRequest)
        #expect(answer.response.headers["Content-Type"] == "application/problem+json")
        #expect(answer.json["title"] == "NativeGrants.Disabled")
        #expect(answer.json["status"] == 400)
        try Problem.nativeSchema.check(answer.json)
        let domain = await door.ask(#"{"Email":"a","FirstName":"domain"}"#)
        #expect(domain.status == .serviceUnavailable)
        #expect(domain.json["title"] == "Passkey.Unavailable")
        let stale = await door.ask(#"{"Email":"a","FirstName":"stale"}"#)
        #expect(stale.json == ["Message": "Enrollment session expired."])
    }

    @Test func `a native route's 429 names the limit that was passed`() async {
        let answer = await door.ask(#"{"Email":"a","FirstName":"much"}"#)
        #expect(answer.status == .tooManyRequests)
        #expect(answer.response.headers["Retry-After"] == "1")
        #expect(answer.response.headers["Content-Type"] == "application/json")
        let expected: JSON = [
            "error": "rate_limited", "policy": "native-otp", "dimension": "target",
            "retryAfterSeconds": 1,
        ]
        #expect(answer.json == expected)
    }

    @Test func `a native route leaves null members out of its answers`() throws {
        let response = Response.native(
            .ok, ["Id": "x", "LastUsedAt": .null, "List": [["A": .null, "B": 1], .null]])
        #expect(response.body == Array(#"{"Id":"x","List":[{"B":1},null]}"#.utf8))
    }

    @Test func `a native route words every kind of problem`() throws {
        for kind in ProblemKind.allCases where kind != .rateLimited {
            let response = Problem(kind).response(
                to: Request(method: .post, path: "/x"), in: .native)
            let body = try JSON.parse(response.body)
            if response.headers["Content-Type"] == "application/json" {
                try Problem.nativeSmallSchema.check(body)
            } else {
                try Problem.nativeSchema.check(body)
            }
        }
    }
}

@Suite struct `A description of several dialects` {
    private let document = OpenAPI.document(
        of: Door.table.map(\.outline) + API.outlines, title: "T", version: "1", description: "D")

    @Test
    func `the OpenAPI document of several dialects shows forms with the same members as JSON`() {
        let token = document["paths"]?["/connect/token"]?["post"]
        let content = token?["requestBody"]?["content"]
        let form = content?["application/x-www-form-urlencoded"]
        #expect(content?.object?.count == 1)
        #expect(form?["schema"]?["properties"]?["grant_type"]?["type"] == "string")
        #expect(form?["schema"]?["properties"]?["resource"]?["type"] == "array")
        #expect(form?["schema"]?["required"] == ["grant_type"])
        #expect(token?["security"] == [["client": []], [:]])
    }

    @Test func `the OpenAPI document marks optional members and the refusals of pages`() {
        let link = document["paths"]?["/api/account/magic-link/request"]?["post"]?["requestBody"]
        let schema = link?["content"]?["application/json"]?["schema"]
        #expect(schema?["properties"]?["ReturnUrl"]?["type"] == ["string", "null"])
        #expect(link?["required"] == true)
        let begin = document["paths"]?["/connect/passkey/begin"]?["post"]?["requestBody"]
        #expect(begin?["required"] == false)
        for path in ["/connect/authorize", "/connect/logout"] {
            let routes = document["paths"]?[path]
            #expect(routes?["post"]?["responses"]?["415"] != nil, "\(path)")
            #expect(routes?["get"]?["responses"]?["415"] == nil, "\(path)")
        }
    }

    @Test func `the OpenAPI document shows each dialect's refusals`() {
        let token = document["paths"]?["/connect/token"]?["post"]?["responses"]
        let refused = token?["400"]?["content"]?["application/json"]?["schema"]
        #expect(refused == ["$ref": "#/components/schemas/OAuthError"])
        let limited = token?["429"]?["content"]?["application/json"]?["schema"]
        #expect(limited == ["$ref": "#/components/schemas/RateLimited"])
        #expect(token?["429"]?["headers"]?["Retry-After"] != nil)
        #expect(token?["401"]?["headers"]?["WWW-Authenticate"] != nil)
        let native = document["paths"]?["/api/account/native/otp/request"]?["post"]?["responses"]
        let problem = native?["400"]?["content"]?["application/problem+json"]?["schema"]
        #expect(problem == ["$ref": "#/components/schemas/NativeProblem"])
        for name in ["OAuthError", "RateLimited", "NativeProblem", "NativeError", "Problem"] {
            #expect(document["components"]?["schemas"]?[name] != nil)
        }
        let schemes = document["components"]?["securitySchemes"]?.object
        #expect(schemes?.keys.sorted() == ["accessToken", "adminKey", "client"])
    }
}
