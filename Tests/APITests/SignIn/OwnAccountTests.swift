import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

extension SignInWorld {
    func own(
        _ method: Method, _ path: String, _ token: String, agent: String? = nil
    ) async throws -> Answered {
        var headers: Headers = ["Host": "id.acme.example", "Authorization": "Bearer \(token)"]
        headers["User-Agent"] = agent
        return try await send(
            Request(
                method: method, path: path, query: nil, headers: headers, body: [],
                source: "203.0.113.7", id: "request-4"))
    }

    /// The access token and the refresh token of a new sign-in.
    func signIn() async throws -> (access: String, refresh: String) {
        _ = try await requestCode(["Email": "ann@example.org"])
        let tokens = try await redeem(try await mailedCode()).json
        return (
            try #require(tokens["access_token"]?.string),
            try #require(tokens["refresh_token"]?.string)
        )
    }

    func refresh(_ token: String) async throws -> Answered {
        try await post(
            "/connect/token",
            form: [
                ("grant_type", "refresh_token"), ("client_id", "phone"),
                ("refresh_token", token),
            ])
    }

    func account(of token: String) async throws -> UUID {
        try #require(try await introspect(token)["sub"]?.string.flatMap { UUID($0) })
    }
}

@Suite struct `A token for a resource` {
    @Test(arguments: [
        (["https://api.example"], false),
        (["https://api.example", "http://id.acme.example"], true),
    ])
    func `a token for another resource opens no account route, unless it is for the issuer too`(
        resources: [String], opens: Bool
    ) async throws {
        let world = try await SignInWorld()
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let answer = try await world.post(
            "/connect/token",
            form: [
                ("grant_type", "urn:cocoar:otp"), ("client_id", "phone"),
                ("username", "ann@example.org"), ("otp_code", try await world.mailedCode()),
                ("scope", "openid"),
            ] + resources.map { ("resource", $0) })
        let token = try #require(answer.json["access_token"]?.string)
        for (method, path) in [
            (Method.get, "/api/account/sessions"), (.get, "/connect/passkey"),
            (.get, "/connect/totp"), (.post, "/connect/passkey/enroll/begin"),
            (.post, "/connect/totp/enroll/begin"), (.delete, "/api/account"),
        ] {
            let status = try await world.own(method, path, token).status
            #expect((status == .unauthorized) == !opens, "\(path): \(status)")
            if opens, method != .get { break }
        }
        if !opens { #expect(try await world.userInfo(token).status == .ok) }
    }
}

@Suite struct `One's own sessions` {
    @Test func `one's own sessions are listed newest first with the present one marked`()
        async throws
    {
        let world = try await SignInWorld()
        let first = try await world.signIn()
        let second = try await world.signIn()
        let answer = try await world.own(.get, "/api/account/sessions", first.access)
        #expect(answer.status == .ok)
        let items = try #require(answer.json.array)
        #expect(items.map { $0["Current"] } == [false, true])
        #expect(items.map { $0["Client"] } == ["phone", "phone"])
        #expect(items.allSatisfy { $0["CreatedAt"] != nil && $0["LastUsedAt"] != nil })
        _ = try await world.refresh(second.refresh)
        let used = try await world.own(.get, "/api/account/sessions", first.access).json
        #expect(used.array?.first?["LastUsedAt"] != items.first?["LastUsedAt"])
    }

    @Test func `one's own sessions are listed with their kind of device`() async throws {
        let world = try await SignInWorld()
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let code = try await world.mailedCode()
        let form = Form.encode([
            ("grant_type", "urn:cocoar:otp"), ("client_id", "phone"),
            ("username", "ann@example.org"), ("otp_code", code), ("scope", "openid"),
        ])
        let answer = try await world.send(
            Request(
                method: .post, path: "/connect/token", query: nil,
                headers: [
                    "Host": "id.acme.example",
                    "Content-Type": "application/x-www-form-urlencoded",
                    "User-Agent": "Shop/1.0 (iPhone; iOS 18.1)",
                ], body: Array(form.utf8), source: "203.0.113.7", id: "r"))
        let token = try #require(answer.json["access_token"]?.string)
        let items = try await world.own(.get, "/api/account/sessions", token).json.array
        #expect(items?.map { $0["Device"] } == ["iPhone"])
        let opened = try #require(
            try await world.log.events(from: 1, limit: .max, in: world.realm)
                .last { $0.name == "session.opened" })
        #expect(opened.open["device"] == "iPhone")
        #expect(opened.open["method"] == "urn:cocoar:otp")
    }

    @Test func `one's own sessions are ended one by one, and nobody else's`() async throws {
        let world = try await SignInWorld()
        let mine = try await world.signIn()
        let items = try await world.own(.get, "/api/account/sessions", mine.access).json.array
        let id = try #require(items?.first?["Id"]?.string)
        // Somebody else.
        _ = try await world.requestCode(["Email": "bob@example.org"])
        let code = try await world.mailedCode()
        let other = try await world.post(
            "/connect/token",
            form: [
                ("grant_type", "urn:cocoar:otp"), ("client_id", "phone"),
                ("username", "bob@example.org"), ("otp_code", code), ("scope", "openid"),
            ])
        let foreign = try #require(other.json["access_token"]?.string)
        let path = "/api/account/sessions/\(id)"
        #expect(try await world.own(.delete, path, foreign).status == .notFound)
        let unknown = "/api/account/sessions/\(UUID.random())"
        let missing = try await world.own(.delete, unknown, mine.access)
        #expect(missing.status == .notFound)
        #expect(try await world.introspect(mine.access)["active"] == true)
        #expect(try await world.own(.delete, path, mine.access).status == .noContent)
        #expect(try await world.introspect(mine.access) == ["active": false])
        #expect(try await world.refresh(mine.refresh).json["error"] == "invalid_grant")
        #expect(try await world.own(.delete, path, mine.access).status == .unauthorized)
    }

    @Test func `one's own sessions need a token of an account`() async throws {
        let world = try await SignInWorld()
        let own = try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials"), ("scope", "jobs")],
            basic: "service:\(SignInWorld.secret)".replacing(" ", with: "+"))
        let token = try #require(own.json["access_token"]?.string)
        for (method, path) in [
            (Method.get, "/api/account/sessions"), (.post, "/api/account/logout-everywhere"),
            (.delete, "/api/account"), (.delete, "/api/account/sessions/\(UUID.random())"),
        ] {
            for wrong in [token, "urd_at_x", ""] {
                let answer = try await world.own(method, path, wrong)
                #expect(answer.status == .unauthorized, "\(path)")
                #expect(answer.response.headers["WWW-Authenticate"] != nil)
            }
        }
    }

    @Test func `MOD-12: logging out everywhere ends all sessions and notifies the person`()
        async throws
    {
        let world = try await SignInWorld()
        let (first, second) = (try await world.signIn(), try await world.signIn())
        let answer = try await world.own(
            .post, "/api/account/logout-everywhere", first.access)
        #expect(answer.status == .noContent)
        for tokens in [first, second] {
            #expect(try await world.introspect(tokens.access) == ["active": false])
            #expect(try await world.userInfo(tokens.access).status == .unauthorized)
            #expect(try await world.refresh(tokens.refresh).json["error"] == "invalid_grant")
        }
        let rotated = try #require(
            try await world.log.events(from: 1, limit: .max, in: world.realm)
                .last { $0.name == "account.stamp_rotated" })
        #expect(rotated.open["mail"]?.string.flatMap { UUID($0) } != nil)
        #expect(rotated.actor == "user:\(rotated.stream)")
        let third = try await world.signIn()
        #expect(try await world.introspect(third.access)["active"] == true)
    }
}

@Suite struct `One's own account` {
    @Test func `one's own account is deleted after a grace period without sign-ins`() async throws {
        let world = try await SignInWorld()
        let tokens = try await world.signIn()
        let account = try await world.account(of: tokens.access)
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let code = try await world.mailedCode()
        let answer = try await world.own(.delete, "/api/account", tokens.access)
        #expect(answer.status == .ok)
        #expect(answer.json["DueAt"]?.string.flatMap { Timestamp(rfc3339: $0) } != nil)
        #expect(try await world.introspect(tokens.access) == ["active": false])
        #expect(try await world.refresh(tokens.refresh).json["error"] == "invalid_grant")
        let refused = try await world.redeem(code)
        #expect(refused.json["error"] == "invalid_grant")
        // A code from before proves nothing any more.
        #expect(refused.json["error_description"] == "Invalid or expired code.")
        let before = try await world.events().filter { $0 == "otp.issued" }.count
        #expect(try await world.requestCode(["Email": "ann@example.org"]).status == .ok)
        #expect(try await world.events().filter { $0 == "otp.issued" }.count == before)
        try await world.carryOut(AccountChange.cancelDeletion(account))
        let again = try await world.signIn()
        #expect(try await world.account(of: again.access) == account)
    }

    @Test func `one's own account is not deleted by a token of an old sign-in`()
        async throws
    {
        let world = try await SignInWorld(["registration": "jit_on_otp", "recent_sign_in": 60])
        let tokens = try await world.signIn()
        // Every look at the clock is a millisecond.
        for _ in 0..<60_000 { _ = world.clock.next() }
        let answer = try await world.own(.delete, "/api/account", tokens.access)
        #expect(answer.status == .unauthorized)
        #expect(answer.json["title"] == "Account.ReauthenticationRequired")
        let challenge = answer.response.headers["WWW-Authenticate"] ?? ""
        #expect(challenge.contains(#"error="insufficient_user_authentication""#))
        #expect(challenge.contains("max_age=\"60\""))
        #expect(try await !world.events().contains("account.deletion_scheduled"))
        let fresh = try await world.signIn()
        #expect(try await world.own(.delete, "/api/account", fresh.access).status == .ok)
    }
}
