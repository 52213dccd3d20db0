import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

/// What a client does that was written from the profile's sheet alone.
@Suite struct `A client written from the sheet` {
    private func world() async throws -> (FlagshipWorld, TestInstallation, code: String) {
        let world = try await FlagshipWorld()
        let first = try await world.register("First")
        _ = try await world.onboard(first)
        let code = try await world.login(first).json["session_code"]?.string
        return (world, first, try #require(code))
    }

    @Test
    func `COZ-10: a client written from the sheet consents by returning the form it received`()
        async throws
    {
        let (world, _, code) = try await world()
        let request = InstallationRequest(app: try await world.certified())
        let browser = try await world.browser(code, at: request.place)
        try await browser.follow()
        let token = try #require(browser.value(of: "csrf_token"))
        func send(_ token: String?, signedIn: Bool = true) async throws -> Answered {
            let cookies = browser.cookies.filter { signedIn || $0.key != "__Host-urd" }
            let line = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
            return try await world.send(
                .post, "/auth/authorize",
                form: request.pairs + (token.map { [("csrf_token", $0)] } ?? []),
                headers: ["Cookie": line, "Accept": "text/html"])
        }
        #expect(try await send(nil).status == .forbidden)
        #expect(try await send("x").status == .forbidden)
        let gone = try await send(token, signedIn: false)
        #expect(gone.status == .unauthorized)
        #expect(gone.response.headers["Content-Type"] == "text/html; charset=utf-8")
        let allowed = try await send(token)
        #expect(allowed.status == .found)
        let given = try FlagshipWorld.code(in: allowed.response.headers["Location"])
        #expect(try await world.redeem(request.app, given).status == .ok)
    }

    @Test func `COZ-08: a challenge method without a challenge is refused in the sheet's words`()
        async throws
    {
        let (world, _, code) = try await world()
        let request = InstallationRequest(app: try await world.certified(), scope: "files")
        let browser = try await world.browser(code, at: request.place)
        try await browser.get(request.changed("code_challenge", nil))
        #expect(browser.answer?.status == .badRequest)
        try await browser.get(request.changed("code_challenge_method", nil))
        #expect(browser.answer?.status == .badRequest)
    }

    @Test func `COZ-10: a request without a scope asks for the scopes of its web app`() async throws
    {
        let (world, first, code) = try await world()
        try await world.add(FlagshipWorld.drive)
        let answer = try await world.send(
            .post, "/auth/register",
            json: [
                "redirect_uris": ["cozy://"], "client_name": "Drive for phones",
                "software_id": "registry://drive/stable",
            ])
        var app = first
        app.id = try #require(answer.json["client_id"]?.string)
        app.secret = try #require(answer.json["client_secret"]?.string)
        let request = InstallationRequest(app: app, scope: "files")
        let browser = try await world.browser(code, at: request.place)
        try await browser.get(request.changed("scope", nil))
        #expect(browser.answer?.status == .ok)
        #expect(browser.value(of: "scope") == "files contacts:read")
        let other = InstallationRequest(app: try await world.register())
        try await browser.get(other.changed("scope", nil))
        #expect(browser.answer?.status == .badRequest)
    }

    @Test func `COZ-01: a software id that names no app is refused in the sheet's words`()
        async throws
    {
        let world = try await FlagshipWorld()
        let refused = try await world.send(
            .post, "/auth/register",
            json: [
                "redirect_uris": ["cozy://"], "client_name": "X", "software_id": "registry://",
            ])
        #expect(refused.status == .badRequest)
        #expect(refused.json["error"] == "unapproved_software_id")
    }

    @Test func `COZ-09: too many guesses are answered as a wrong guess`() async throws {
        let world = try await FlagshipWorld([
            "rate_limits": ["certification": ["target": ["amount": 2, "seconds": 3_600]]]
        ])
        let app = try await world.register()
        for _ in 0..<4 {
            let answer = try await world.send(
                .post, "/auth/clients/\(app.id)/flagship",
                form: [("code", "123456"), ("token", "x")])
            #expect(answer.status == .unauthorized)
            #expect(answer.json == ["error": "invalid code"])
        }
    }

    @Test func `COZ-11: an empty parameter is answered as a missing one`() async throws {
        let (world, app, _) = try await world()
        for name in ["grant_type", "client_id", "client_secret"] {
            func value(of other: String, _ text: String) -> (name: String, value: String) {
                (other, other == name ? "" : text)
            }
            let answer = try await world.send(
                .post, "/auth/access_token",
                form: [
                    value(of: "grant_type", "refresh_token"), value(of: "client_id", app.id),
                    value(of: "client_secret", app.secret),
                ])
            #expect(answer.status == .badRequest)
            #expect(answer.json == ["error": .string("the \(name) parameter is mandatory")])
        }
    }

    @Test func `COZ-12: a token is accepted as a password or in the query as well`() async throws {
        let world = try await FlagshipWorld()
        let access = try #require(
            try await world.onboard(try await world.certified()).json["access_token"]?.string)
        func usage(_ authorization: String?, _ query: String? = nil) async throws -> Status {
            var headers: Headers = [:]
            if let authorization { headers["Authorization"] = authorization }
            return try await world.send(
                .get, "/settings/clients-usage", query: query, headers: headers
            ).status
        }
        let basic = Base64.encode(Array("user:\(access)".utf8))
        #expect(try await usage("Basic \(basic)") == .ok)
        #expect(try await usage("basic \(Base64.encode(Array(":\(access)".utf8)))") == .ok)
        #expect(try await usage(nil, "bearer_token=\(access)") == .ok)
        #expect(try await usage("Basic \(Base64.encode(Array("user:x".utf8)))") == .badRequest)
        #expect(try await usage("Basic \(Base64.encode(Array(access.utf8)))") == .unauthorized)
        #expect(try await usage("Basic !") == .unauthorized)
    }

    @Test func `COZ-19: a session code needs a token with all scopes`() async throws {
        let (world, _, code) = try await world()
        let request = InstallationRequest(app: try await world.register(), scope: "files")
        let browser = try await world.browser(code, at: request.place)
        try await browser.follow()
        let allowed = try await browser.submit("/auth/authorize", request.pairs)
        let given = try FlagshipWorld.code(in: allowed.response.headers["Location"])
        let access = try await world.redeem(request.app, given).json["access_token"]?.string
        let refused = try await world.sessionCode(access)
        #expect(refused.status == .unauthorized)
        #expect(refused.json == ["error": "Not authorized"])
    }
}
