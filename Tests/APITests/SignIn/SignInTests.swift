import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `Signing in by a mailed code` {
    @Test func `a mailed code creates an account, and its tokens name it`() async throws {
        let world = try await SignInWorld()
        let asked = try await world.requestCode(["Email": " Ann@Example.org ", "FirstName": "Ann"])
        #expect(asked.status == .ok)
        let code = try await world.mailedCode()
        let answer = try await world.redeem(code)
        #expect(answer.status == .ok)
        #expect(answer.json["token_type"] == "Bearer")
        #expect(answer.json["expires_in"] == 900)
        #expect(answer.json["scope"] == "openid email offline_access")
        let access = try #require(answer.json["access_token"]?.string)
        let who = try await world.userInfo(access).json
        #expect(who["email"] == "ann@example.org")
        #expect(who["email_verified"] == true)
        #expect(who["given_name"] == nil, "The scope does not reach that far.")
        let known = try await world.introspect(access)
        #expect(known["active"] == true)
        #expect(known["client_id"] == "phone")
        #expect(known["sub"] == who["sub"])
        #expect(try await world.redeem(code).json["error"] == "invalid_grant", "It is used.")
        // The next code is for the same account.
        _ = try await world.requestCode(["email": "ann@example.org"])
        let again = try await world.redeem(try await world.mailedCode())
        let token = try #require(again.json["access_token"]?.string)
        #expect(try await world.userInfo(token).json["sub"] == who["sub"])
    }

    @Test(
        arguments: [
            (["Mallory", "Ann"], "198.51.100.9", [:], "Ann"),
            (["Ann", "Mallory"], "198.51.100.9", [:], "Ann"),
            // From Ann's own network nobody knows whose name it is, unless Ann says it with the code.
            (["Ann", "Mallory"], "203.0.113.7", [:], nil),
            (["Mallory", "Ann"], "203.0.113.7", [:], nil),
            (["Mallory"], "203.0.113.7", ["first_name": "Ann"], "Ann"),
            (["Ann", "Mallory"], "198.51.100.9", ["last_name": "Lee"], nil),
        ] as [([String], String, [String: String], String?)])
    func `a mailed code gives an account the names of the person who redeems it`(
        _ asked: [String], _ elsewhere: String, _ said: [String: String], _ name: String?
    ) async throws {
        let world = try await SignInWorld()
        func ask(_ name: String) async throws {
            let answer = try await world.send(
                Request(
                    method: .post, path: "/api/account/native/otp/request", query: nil,
                    headers: ["Host": "id.acme.example", "Content-Type": "application/json"],
                    body: JSON.object([
                        "Email": "ann@example.org", "FirstName": .string(name),
                    ]).canonical(), source: name == "Ann" ? "203.0.113.7" : elsewhere,
                    id: "request-2"))
            #expect(answer.status == .ok)
        }
        for name in asked { try await ask(name) }
        #expect(try await world.events().filter { $0 == "otp.issued" }.count == 1)
        let tokens = try await world.post(
            "/connect/token",
            form: [
                ("grant_type", "urn:cocoar:otp"), ("client_id", "phone"),
                ("username", "ann@example.org"), ("otp_code", try await world.mailedCode()),
                ("scope", "openid profile"),
            ] + said.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        let who = try await world.userInfo(try #require(tokens.json["access_token"]?.string))
        #expect(who.json["given_name"]?.string == name)
        #expect(who.json["family_name"]?.string == said["last_name"])
        // Of an account that is there nobody says another name by asking.
        let renamed = try await world.events().filter { $0 == "otp.renamed" }.count
        for name in ["Eve", "Mallory"] { try await ask(name) }
        #expect(try await world.events().filter { $0 == "otp.renamed" }.count == renamed)
    }

    @Test func `a mailed code is refused with an unprintable name`() async throws {
        let world = try await SignInWorld()
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let answer = try await world.post(
            "/connect/token",
            form: [
                ("grant_type", "urn:cocoar:otp"), ("client_id", "phone"),
                ("username", "ann@example.org"), ("otp_code", try await world.mailedCode()),
                ("first_name", "A\nnn"),
            ])
        #expect(answer.status == .badRequest && answer.json["error"] == "invalid_request")
        #expect(try await !world.events().contains("otp.redeemed"))
    }

    @Test func `a mailed code's faulty request names the member as it was sent`() async throws {
        let world = try await SignInWorld(["registration_last_name": "required"])
        let missing = try await world.requestCode(["Email": "ann@example.org"])
        #expect(missing.json["error"] == "LastName is required.")
        let control = try await world.requestCode([
            "Email": "ann@example.org", "FirstName": "A\nnn", "LastName": "Lee",
        ])
        #expect(control.status == .badRequest)
        #expect(control.json["error"] == "FirstName is malformed.")
    }

    @Test func `a mailed code's request is answered the same for every address`()
        async throws
    {
        let open = try await SignInWorld()
        let closed = try await SignInWorld(["registration": "off"])
        let message = try await open.requestCode(["Email": "ann@example.org"])
        for members: JSONObject in [
            ["Email": "bob@example.org"], ["Email": ""], ["Email": "no address"], [:],
        ] {
            let answer = try await closed.requestCode(members)
            #expect(answer.status == message.status)
            #expect(answer.response.body == message.response.body)
        }
        #expect(try await !closed.events().contains("otp.issued"))
    }

    @Test func `a mailed code admits ten new people per network and hour, without telling`()
        async throws
    {
        let world = try await SignInWorld()
        for number in 0..<12 {
            let answer = try await world.requestCode(["Email": .string("p\(number)@example.org")])
            #expect(answer.status == .ok)
        }
        #expect(try await world.events().count { $0 == "otp.issued" } == 10)
        // Whoever has an account is no sign-up.
        let known = try await SignInWorld()
        _ = try await known.requestCode(["Email": "ann@example.org"])
        #expect(try await known.redeem(try await known.mailedCode()).status == .ok)
        for number in 0..<10 {
            _ = try await known.requestCode(["Email": .string("p\(number)@example.org")])
        }
        let before = try await known.events().count { $0 == "otp.issued" }
        _ = try await known.requestCode(["Email": "ann@example.org"])
        #expect(try await known.events().count { $0 == "otp.issued" } == before + 1)
    }

    @Test func `a mailed code asks for the names that the realm demands`() async throws {
        let world = try await SignInWorld(["registration_last_name": "required"])
        let answer = try await world.requestCode(["Email": "ann@example.org"])
        #expect(answer.status == .badRequest)
        #expect(answer.json == ["error": "LastName is required."])
    }

    @Test func `a mailed code's routes are closed without native grants`() async throws {
        let world = try await SignInWorld(["native_grants": false])
        let answer = try await world.requestCode(["Email": "ann@example.org"])
        #expect(answer.status == .badRequest)
        #expect(answer.json["title"] == "NativeGrants.Disabled")
        let refused = try await world.redeem("123456")
        #expect(refused.json["error"] == "unsupported_grant_type")
        #expect(
            refused.json["error_description"]
                == "This grant type is not enabled for this realm.")
    }

    @Test func `a mailed code is void after three wrong guesses`() async throws {
        let world = try await SignInWorld()
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let code = try await world.mailedCode()
        let wrong = code == "000000" ? "000001" : "000000"
        for _ in 0..<3 {
            let answer = try await world.redeem(wrong)
            #expect(answer.status == .badRequest)
            #expect(answer.json["error_description"] == "Invalid or expired code.")
        }
        #expect(try await world.redeem(code).json["error"] == "invalid_grant")
        #expect(try await world.events().filter { $0 == "otp.refused" }.count == 3)
    }

    @Test func `a mailed code redeemed fifty times at once signs in once`() async throws {
        let world = try await SignInWorld()
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let code = try await world.mailedCode()
        let answers = try await withThrowingTaskGroup(of: Status.self) { group in
            for _ in 0..<50 { group.addTask { try await world.redeem(code).status } }
            return try await group.reduce(into: [Status]()) { $0.append($1) }
        }
        #expect(answers.count { $0 == .ok } == 1)
        #expect(try await world.events().filter { $0 == "session.opened" }.count == 1)
    }
}

@Suite struct `A client's tokens` {
    private func signIn(_ world: SignInWorld) async throws -> JSON {
        _ = try await world.requestCode(["Email": "ann@example.org"])
        return try await world.redeem(try await world.mailedCode()).json
    }

    private func refresh(_ token: JSON?, _ world: SignInWorld) async throws -> Answered {
        try await world.post(
            "/connect/token",
            form: [
                ("grant_type", "refresh_token"), ("client_id", "phone"),
                ("refresh_token", token?.string ?? ""),
            ])
    }

    @Test func `a client's refresh is refused where its tokens would outlive the account`()
        async throws
    {
        let world = try await SignInWorld(["registration": "jit_on_otp"])
        let first = try await world.join()
        _ = try await refresh(first["refresh_token"], world)
        let all = try await world.log.events(from: 1, limit: .max, in: world.realm)
        let session = try #require(all.last { $0.name == "session.refreshed" }).stream
        let events = try await world.log.stream(session, after: 0, in: world.realm)
        #expect(events.map(\.name) == ["session.opened", "session.refreshed"])
        guard case .opened(let told) = events[0].personal else {
            Issue.record("Where somebody signed in is kept, under his own key.")
            return
        }
        #expect(told["$address"] == "203.0.113.7" && events[0].subject != nil)
        #expect(events[1].personal == .none)
    }

    @Test func `a client's refresh token is used once`() async throws {
        let world = try await SignInWorld()
        let first = try await signIn(world)
        let second = try await refresh(first["refresh_token"], world)
        #expect(second.status == .ok)
        let repeated = try await refresh(first["refresh_token"], world)
        #expect(repeated.json["refresh_token"] == second.json["refresh_token"], "The same again.")
        let third = try await refresh(second.json["refresh_token"], world)
        #expect(third.status == .ok)
        // Its successor was used: whoever has it now is not the one who has the newest.
        #expect(try await refresh(first["refresh_token"], world).json["error"] == "invalid_grant")
        #expect(try await refresh(third.json["refresh_token"], world).status == .badRequest)
        let access = try #require(third.json["access_token"]?.string)
        #expect(try await world.introspect(access) == ["active": false])
        // The newest one came when all was over: that it was refused is on record as well.
        #expect(
            try await Array(world.events().suffix(2)) == ["session.ended", "session.refused"])
    }

    @Test func `a client's refresh token used many times at once gives one lineage`() async throws {
        let world = try await SignInWorld()
        let first = try await signIn(world)
        let answers = try await withThrowingTaskGroup(of: JSON?.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await refresh(first["refresh_token"], world).json["refresh_token"]
                }
            }
            return try await group.reduce(into: [JSON?]()) { $0.append($1) }
        }
        #expect(Set(answers).count == 1 && answers.first != .some(nil))
    }

    @Test func `a client's tokens end when their own client revokes them`() async throws {
        let world = try await SignInWorld()
        let tokens = try await signIn(world)
        let refreshToken = try #require(tokens["refresh_token"]?.string)
        let access = try #require(tokens["access_token"]?.string)
        let foreign = try await world.post(
            "/connect/revoke", form: [("token", refreshToken)],
            basic: "service:\(SignInWorld.secret)".replacing(" ", with: "+"))
        #expect(foreign.status == .ok)
        #expect(try await world.introspect(access)["active"] == true)
        let own = try await world.post(
            "/connect/revoke", form: [("token", refreshToken), ("client_id", "phone")])
        #expect(own.status == .ok)
        #expect(try await world.introspect(access) == ["active": false])
        #expect(try await world.userInfo(access).status == .unauthorized)
        #expect(try await refresh(tokens["refresh_token"], world).status == .badRequest)
    }

    @Test func `a client's tokens end when the account's stamp is rotated`() async throws {
        let world = try await SignInWorld()
        let tokens = try await signIn(world)
        let access = try #require(tokens["access_token"]?.string)
        let account = try #require(
            try await world.introspect(access)["sub"]?.string.flatMap { UUID($0) })
        try await world.carryOut(RotateSecurityStamp(account: account))
        #expect(try await world.introspect(access) == ["active": false])
        #expect(try await refresh(tokens["refresh_token"], world).status == .badRequest)
    }

    @Test func `a client gets tokens for itself`() async throws {
        let world = try await SignInWorld()
        let basic = "service:\(SignInWorld.secret)".replacing(" ", with: "+")
        let answer = try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials"), ("scope", "jobs")],
            basic: basic)
        #expect(answer.status == .ok)
        #expect(answer.json["refresh_token"] == nil)
        let access = try #require(answer.json["access_token"]?.string)
        #expect(try await world.introspect(access)["sub"] == "service")
        #expect(try await world.userInfo(access).status == .unauthorized)
    }

    @Test func `a client's tokens are refused to other clients and for foreign scopes`()
        async throws
    {
        let world = try await SignInWorld()
        let basic = "service:\(SignInWorld.secret)".replacing(" ", with: "+")
        let cases: [([(name: String, value: String)], String?, Status, String)] = [
            ([("grant_type", "client_credentials")], nil, .unauthorized, "invalid_client"),
            (
                [("grant_type", "client_credentials"), ("client_id", "service")], nil,
                .unauthorized, "invalid_client"
            ),
            ([("grant_type", "client_credentials")], "service:no", .unauthorized, "invalid_client"),
            ([("grant_type", "client_credentials")], "nobody:no", .unauthorized, "invalid_client"),
            ([("grant_type", "password")], basic, .badRequest, "unsupported_grant_type"),
            ([("grant_type", "refresh_token")], basic, .badRequest, "unauthorized_client"),
            (
                [("grant_type", "refresh_token"), ("client_id", "phone")], nil, .badRequest,
                "invalid_request"
            ),
            ([], basic, .badRequest, "invalid_request"),
            (
                [("grant_type", "client_credentials"), ("scope", "other")], basic, .badRequest,
                "invalid_scope"
            ),
            (
                [("grant_type", "client_credentials"), ("scope", "openid")], basic, .badRequest,
                "invalid_scope"
            ),
            (
                [("grant_type", "client_credentials"), ("scope", "jobs"), ("scope", "jobs")],
                basic, .badRequest, "invalid_request"
            ),
            (
                [("grant_type", "client_credentials"), ("resource", "https://a/#b")], basic,
                .badRequest, "invalid_target"
            ),
            (
                [("grant_type", "client_credentials"), ("client_id", "phone")], nil, .badRequest,
                "unauthorized_client"
            ),
            (
                [("grant_type", "urn:cocoar:otp"), ("client_id", "phone")], nil, .badRequest,
                "invalid_grant"
            ),
        ]
        for (form, basic, status, error) in cases {
            let answer = try await world.post("/connect/token", form: form, basic: basic)
            #expect(answer.status == status, "\(form)")
            #expect(answer.json["error"]?.string == error, "\(form)")
        }
    }

    @Test func `a client's tokens come from the token endpoint by POST alone`() async throws {
        let world = try await SignInWorld()
        let answer = await world.router.respond(
            to: Request(
                method: .get, path: "/connect/token", query: nil,
                headers: ["Host": "id.acme.example"], body: [], source: "203.0.113.7", id: "r"))
        #expect(answer.status == .methodNotAllowed)
        #expect(answer.headers["Allow"]?.contains("POST") == true)
    }
}
