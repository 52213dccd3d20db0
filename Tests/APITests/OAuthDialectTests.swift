import HTTP
import JSON
import LogTesting
import Testing
import Values

@testable import API

@Suite struct `A form` {
    private let door = Door()

    @Test func `a form is read as its schema describes it`() async {
        let answer = await door.post(
            "grant_type=x&client_id=demo&count=7&flag=true&scope=a+b%26c&resource=one&resource=two")
        #expect(answer.status == .ok)
        let expected: JSON = [
            "grant_type": "x", "client_id": "demo", "count": 7, "flag": true, "scope": "a b&c",
            "resource": ["one", "two"],
        ]
        #expect(answer.json["body"] == expected)
        #expect(answer.json["caller"] == "demo")
        #expect(answer.json["at"] == "a.example")
    }

    @Test func `a form's undescribed fields are ignored`() async {
        let answer = await door.post(
            "grant_type=x&client_id=demo&more=1&more=2&__proto__=1",
            query: "x=1&x=2&%zz&client_secret=hush")
        #expect(answer.json["body"] == ["grant_type": "x", "client_id": "demo"])
    }

    @Test func `a form's empty value counts as absent`() async {
        let answer = await door.post(
            "grant_type=x&client_id=demo&scope=&client_secret&resource=&count=")
        #expect(answer.json["body"] == ["grant_type": "x", "client_id": "demo"])
        let missing = await door.post("grant_type=&client_id=demo")
        #expect(missing.json["error"] == "invalid_request")
        #expect(missing.json["error_description"] == "grant_type is required.")
    }

    @Test(arguments: [
        "grant_type=x&client_id=demo&scope=a&scope=a", "grant_type=x&client_id=demo&scope=&scope=a",
        "grant_type=x&client_id=demo&client_id=demo", "grant_type=x&grant_type=y&client_id=demo",
        "grant_type=x&client_id=demo&count=0", "grant_type=x&client_id=demo&count=01",
        "grant_type=x&client_id=demo&count=99999999999999999999",
        "grant_type=x&client_id=demo&flag=TRUE", "grant_type=x&client_id=demo&scope=%00",
        "grant_type=x&client_id=demo&scope=%zz", "grant_type=x&client_id=demo&scope=%C3",
        "grant_type=x&client_id=demo&resource=1&resource=2&resource=3&resource=4",
        "client_id=demo", "", "{\"grant_type\":\"x\"}",
    ])
    func `a form with a repeated or unreadable field is refused`(_ body: String) async {
        let answer = await door.post(body)
        #expect(answer.status == .badRequest, "\(body)")
        #expect(answer.json["error"] == "invalid_request", "\(body)")
    }

    @Test(
        arguments: [
            nil, "", "application/json", "text/plain", "multipart/form-data",
            "application/x-www-form-urlencoded; charset=utf-16",
            "application/x-www-form-urlencoded, application/json",
        ] as [String?])
    func `a form of another media type is refused`(_ type: String?) async {
        let answer = await door.post("grant_type=x&client_id=demo", type: type)
        #expect(answer.status == .unsupportedMediaType)
        #expect(answer.json["error"] == "invalid_request")
    }

    @Test(arguments: [
        "application/x-www-form-urlencoded;charset=UTF-8", "Application/X-WWW-Form-URLencoded",
        "application/x-www-form-urlencoded; charset=\"utf-8\"",
    ])
    func `a form's media type may name its character set`(_ type: String) async {
        #expect(await door.post("grant_type=x&client_id=demo", type: type).status == .ok)
    }

    @Test func `a form over the size limit is not parsed`() async {
        let filler = String(repeating: "a", count: 2000)
        let answer = await door.post("grant_type=x&client_id=demo&x=\(filler)")
        #expect(answer.status == .contentTooLarge)
        #expect(answer.json["error"] == "invalid_request")
        let many = Array(repeating: "a", count: 500).joined(separator: "&")
        #expect(await door.post(many).status == .badRequest)
    }

    @Test(arguments: [UInt64](1...20))
    func `any bytes in a form are refused or read without harm`(_ seed: UInt64) async {
        var random = SeededRandom(seed: seed)
        let pieces = [
            "grant_type", "client_id", "=", "&", "%", "+", "%00", "%C3%A4", "resource", "count",
            "1", "\u{0}", "ä", "&&", "==",
        ]
        for _ in 0..<200 {
            let body = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            let answer = await door.post(
                body, authorization: seed % 2 == 0 ? ["Basic \(body)"] : [])
            #expect(answer.status.code < 500)
            #expect(answer.json["error"] != nil || answer.status == .ok)
        }
    }
}

@Suite struct `An OAuth refusal` {
    private let door = Door()

    @Test func `an OAuth error is a code and a sentence in plain ASCII`() async throws {
        let answer = await door.post("grant_type=bad&client_id=demo")
        #expect(answer.status == .badRequest)
        #expect(answer.response.headers["Content-Type"] == "application/json")
        #expect(answer.response.headers["Cache-Control"] == "no-store")
        #expect(answer.response.headers["Pragma"] == "no-cache")
        #expect(answer.json["error"] == "invalid_grant")
        #expect(answer.json["error_description"] == "Invalid 'or' expired/ c?de.?")
        try Problem.oauthSchema.check(answer.json)
    }

    @Test func `an OAuth error exists for every kind of problem`() throws {
        for kind in ProblemKind.allCases {
            let request = Request(method: .post, path: "/x")
            let response = Problem(kind).response(to: request, in: .oauth)
            let body = try JSON.parse(response.body)
            #expect(response.status == kind.status)
            guard kind != .rateLimited else { continue }
            try Problem.oauthSchema.check(body)
            let code = body["error"]?.string ?? ""
            #expect(code.utf8.allSatisfy { $0 == 0x5F || (0x61...0x7A).contains($0) })
            #expect(body["error_description"] == .string(kind.title.replacing("\"", with: "'")))
        }
    }

    @Test func `an OAuth error tells a fault of the server as server_error`() async {
        let answer = await door.post("grant_type=busy&client_id=demo")
        #expect(answer.status == .serviceUnavailable)
        #expect(answer.json["error"] == "temporarily_unavailable")
        #expect(answer.response.headers["Retry-After"] == "1")
    }

    @Test func `an OAuth error is also the answer to a request that timed out`() throws {
        let late = "The request took too long."
        func said(_ path: String) -> Answered? {
            door.router.unanswered(Request(method: .post, path: path), because: late)
                .map { Answered($0) }
        }
        let answer = try #require(said("/connect/token"))
        #expect(answer.status == .serviceUnavailable)
        let told: JSON = ["error": "temporarily_unavailable", "error_description": .string(late)]
        #expect(answer.json == told)
        #expect(answer.response.headers["Content-Type"] == "application/json")
        #expect(answer.response.headers["Cache-Control"] == "no-store")
        #expect(answer.response.headers["Retry-After"] == "1")
        #expect(said("/nothing") == nil)
    }

    @Test func `an OAuth error may carry details for programs`() async throws {
        let answer = await door.post("grant_type=mfa&client_id=demo")
        #expect(answer.json["error"] == "mfa_required")
        #expect(answer.json["methods"] == ["totp"])
        try Problem.oauthSchema.check(answer.json)
    }

    @Test func `an OAuth 429 names the limit that was passed`() async throws {
        let answer = await door.post("grant_type=much&client_id=demo")
        #expect(answer.status == .tooManyRequests)
        #expect(answer.response.headers["Retry-After"] == "2")
        let expected: JSON = [
            "error": "rate_limited", "policy": "oauth-token", "dimension": "client",
            "retryAfterSeconds": 2,
        ]
        #expect(answer.json == expected)
        try RateLimitRefusal.schema.check(answer.json)
    }

    @Test func `an OAuth error about an access token stands in a challenge, unless none was sent`()
        async
    {
        let none = await door.send(.get, "/connect/userinfo")
        #expect(none.status == .unauthorized)
        #expect(none.response.headers["WWW-Authenticate"] == #"Bearer realm="urd""#)
        let wrong = await door.send(.get, "/connect/userinfo", authorization: ["Bearer x"])
        #expect(wrong.status == .unauthorized)
        #expect(wrong.json["error"] == "invalid_token")
        let challenge = wrong.response.headers["WWW-Authenticate"] ?? ""
        #expect(challenge.hasPrefix(#"Bearer realm="urd", error="invalid_token", "#))
        let far = await door.send(
            .get, "/connect/userinfo", query: "far", authorization: ["Bearer \(door.secret)"])
        #expect(far.status == .forbidden)
        #expect(far.json["error"] == "insufficient_scope")
        #expect(far.response.headers["WWW-Authenticate"]?.contains("insufficient_scope") == true)
    }

    @Test func `an OAuth error answers methods that a path does not have`() async {
        for method in [Method.get, .head, .put, .patch, .delete] {
            let answer = await door.send(method)
            #expect(answer.status == .methodNotAllowed)
            #expect(answer.response.headers["Allow"] == "OPTIONS, POST")
            #expect(answer.json["error"] == "invalid_request")
        }
        #expect(await door.send(.options).response.headers["Allow"] == "OPTIONS, POST")
    }
}

@Suite struct `An OAuth answer` {
    private let door = Door()

    @Test func `an OAuth answer is not cacheable and sets no cookie`() async {
        let answer = await door.post("grant_type=x&client_id=demo")
        #expect(answer.response.headers["Cache-Control"] == "no-store")
        #expect(answer.response.headers["Pragma"] == "no-cache")
        #expect(answer.response.headers["Set-Cookie"] == nil)
    }

    @Test func `an OAuth answer is cacheable where its route allows it`() async {
        let answer = await door.send(.get, "/.well-known/jwks")
        #expect(answer.response.headers["Cache-Control"] == "public, max-age=60")
        #expect(answer.response.headers["Pragma"] == nil)
    }

    @Test func `an OAuth answer is made by its request's own context, not by another table`() async
    {
        let first = await door.post("grant_type=x&client_id=demo", host: "one.example")
        let second = await door.post("grant_type=x&client_id=demo", host: "two.example")
        #expect(first.json["at"] == "one.example")
        #expect(second.json["at"] == "two.example")
        #expect(await door.send(.get, "/health/live", type: nil, host: nil).status == .ok)
        let nowhere = await door.post("grant_type=x&client_id=demo", host: nil)
        #expect(nowhere.status == .notFound)
        #expect(nowhere.json["error"] == "invalid_request")
    }
}
