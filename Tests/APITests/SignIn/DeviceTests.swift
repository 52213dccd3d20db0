import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

private let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

/// A television, and somebody with a phone.
private struct Living: Sendable {
    let world: SignInWorld
    let token: String

    init() async throws {
        world = try await SignInWorld()
        try await world.register(
            "television",
            [
                "client_name": "Television", "token_endpoint_auth_method": "none",
                "grant_types": [.string(deviceGrant), "refresh_token"],
            ])
        try await world.registerPhone("app", [:])
        token = try #require(try await world.signIn("app").json["access_token"]?.string)
    }

    func ask(
        _ client: String = "television", scope: String = "openid email", resources: [String] = []
    ) async throws -> JSON {
        try await world.post(
            "/connect/deviceauthorization",
            form: [("client_id", client), ("scope", scope)] + resources.map { ("resource", $0) }
        ).json
    }

    func poll(
        _ device: JSON, client: String = "television", resources: [String] = []
    ) async throws -> Answered {
        try await world.post(
            "/connect/token",
            form: [
                ("grant_type", deviceGrant), ("client_id", client),
                ("device_code", device["device_code"]?.string ?? ""),
            ] + resources.map { ("resource", $0) })
    }

    func look(_ code: String, token: String? = nil) async throws -> Answered {
        try await world.send(
            Request(
                method: .get, path: "/api/account/device",
                query: Form.encode([("user_code", code)]),
                headers: [
                    "Host": "id.acme.example", "Authorization": "Bearer \(token ?? self.token)",
                ], body: [], source: "203.0.113.7", id: "request-8"))
    }

    func decide(_ code: String, _ approve: Bool = true, token: String? = nil) async throws
        -> Answered
    {
        try await world.call(
            .post, "/api/account/device", bearer: token ?? self.token,
            ["UserCode": .string(code), "Approve": .bool(approve)])
    }
}

@Suite struct `The device grant` {
    @Test func `a device gets its tokens once the person approved it`() async throws {
        let living = try await Living()
        let device = try await living.ask()
        let code = try #require(device["user_code"]?.string)
        #expect(code.count == 9 && code.allSatisfy { "BCDFGHJKLMNPQRSTVWXZ-".contains($0) })
        #expect(device["verification_uri"] == "http://id.acme.example/device")
        #expect(
            device["verification_uri_complete"]?.string
                == "http://id.acme.example/device?user_code=\(code)")
        #expect(device["interval"] == 5)
        let pending = try await living.poll(device)
        #expect(pending.status == .badRequest)
        #expect(pending.json["error"] == "authorization_pending")
        let shown = try await living.look(code.lowercased().replacing("-", with: " "))
        #expect(shown.json["ClientName"] == "Television")
        #expect(shown.json["Scopes"] == ["openid", "email"])
        #expect(try await living.decide(code).status == .noContent)
        #expect(try await living.decide(code).status == .notFound, "It is decided.")
        living.world.clock.advance(seconds: 20)
        let tokens = try await living.poll(device)
        #expect(tokens.status == .ok && tokens.json["scope"] == "openid email")
        let who = try await living.world.userInfo(tokens.json["access_token"]?.string ?? "")
        #expect(who.json["email"] == "ann@example.org")
        living.world.clock.advance(seconds: 20)
        #expect(try await living.poll(device).json["error"] == "invalid_grant")
    }

    @Test func `a device's token has the time at which the person signed in`() async throws {
        let living = try await Living()
        let device = try await living.ask()
        let signedIn = try await living.world.introspect(living.token)["auth_time"]?.integer
        living.world.clock.advance(seconds: 300)
        #expect(try await living.decide(device["user_code"]?.string ?? "").status == .noContent)
        let tokens = try await living.poll(device)
        let token = try #require(tokens.json["access_token"]?.string)
        let told = try await living.world.introspect(token)["auth_time"]?.integer
        #expect(told != nil && told == signedIn)
        // It looks after nobody's account, however lately that was.
        let answer = try await living.world.own(.delete, "/api/account", token)
        #expect(answer.status == .forbidden)
    }

    @Test func `a device is accepted under the parameter names of the sheet`() async throws {
        let living = try await Living()
        let form: [(name: String, value: String)] = [("client_id", "television")]
        let device = try await living.world.post("/connect/device", form: form)
        #expect(device.status == .ok && device.json["device_code"] != nil)
        let code = device.json["user_code"]?.string ?? ""
        for (query, place) in [
            ("user_code=\(code)", "/device?user_code=\(code)"), (nil, "/device"),
        ] {
            let answer = try await living.world.send(
                Request(
                    method: .get, path: "/connect/verify", query: query,
                    headers: ["Host": "id.acme.example"], body: [], source: "203.0.113.7",
                    id: "request-8"))
            #expect(answer.status == .seeOther && answer.response.headers["Location"] == place)
        }
    }

    @Test func `a device is told slow_down also by a node that it had not asked`() async throws {
        let living = try await Living()
        let other = living.world.otherNode()
        let device = try await living.ask()
        let form: [(name: String, value: String)] = [
            ("grant_type", deviceGrant), ("client_id", "television"),
            ("device_code", device["device_code"]?.string ?? ""),
        ]
        func ask(again: Bool) async throws -> JSON? {
            again
                ? await living.world.post("/connect/token", form: form, at: other).json["error"]
                : try await living.poll(device).json["error"]
        }
        #expect(try await ask(again: false) == "authorization_pending")
        living.world.clock.advance(seconds: 1)
        #expect(try await ask(again: true) == "slow_down")
        living.world.clock.advance(seconds: 15)
        #expect(try await ask(again: true) == "authorization_pending")
        living.world.clock.advance(seconds: 2)
        #expect(try await ask(again: false) == "slow_down")
        // What somebody decided is told at once.
        _ = try await living.decide(device["user_code"]?.string ?? "")
        living.world.clock.advance(seconds: 15)
        #expect(try await ask(again: true) == nil)
    }

    /// RFC 8707 section 2.2.
    @Test func `a device gets a token for approved resources, and for no others`()
        async throws
    {
        let living = try await Living()
        let (one, two) = ("https://one.example", "https://two.example")
        let device = try await living.ask(resources: [one, two])
        _ = try await living.decide(device["user_code"]?.string ?? "")
        let other = try await living.poll(device, resources: ["https://three.example"])
        #expect(other.json["error"] == "invalid_target")
        let token = try await living.poll(device, resources: [one])
        let known = try await living.world.introspect(
            try #require(token.json["access_token"]?.string, "\(token.json)"))
        #expect(known["aud"] == [.string(one)] || known["aud"] == .string(one))
        let none = try await living.ask()
        _ = try await living.decide(none["user_code"]?.string ?? "")
        let unasked = try await living.poll(none, resources: [one])
        #expect(unasked.json["error"] == "invalid_target")
        #expect(try await living.poll(none).status == .ok)
    }

    @Test func `a device is refused a foreign scope with invalid_scope`() async throws {
        let living = try await Living()
        try await living.world.register(
            "radio",
            [
                "token_endpoint_auth_method": "none", "scope": "openid",
                "grant_types": [.string(deviceGrant)],
            ])
        #expect(try await living.ask("radio", scope: "openid email")["error"] == "invalid_scope")
    }

    @Test func `a device is told access_denied or authorization_pending`() async throws {
        let living = try await Living()
        let device = try await living.ask()
        _ = try await living.poll(device)
        #expect(try await living.poll(device).json["error"] == "slow_down")
        living.world.clock.advance(seconds: 6)
        #expect(try await living.poll(device).json["error"] == "slow_down", "Ten by now.")
        living.world.clock.advance(seconds: 16)
        #expect(try await living.poll(device).json["error"] == "authorization_pending")
        let code = device["user_code"]?.string ?? ""
        #expect(try await living.decide(code, false).status == .noContent)
        living.world.clock.advance(seconds: 30)
        #expect(try await living.poll(device).json["error"] == "access_denied")
        let second = try await living.ask()
        living.world.clock.advance(seconds: 700)
        #expect(try await living.poll(second).json["error"] == "expired_token")
        let late = try await living.decide(second["user_code"]?.string ?? "")
        #expect(late.status == .notFound)
    }

    @Test func `a device learns the decision also when it polls too soon`() async throws {
        let living = try await Living()
        let device = try await living.ask()
        #expect(try await living.poll(device).json["error"] == "authorization_pending")
        _ = try await living.decide(device["user_code"]?.string ?? "", false)
        for _ in 0..<3 {
            #expect(try await living.poll(device).json["error"] == "access_denied")
        }
        let second = try await living.ask()
        #expect(try await living.poll(second).json["error"] == "authorization_pending")
        #expect(try await living.poll(second).json["error"] == "slow_down")
        _ = try await living.decide(second["user_code"]?.string ?? "")
        #expect(try await living.poll(second).status == .ok)
        #expect(try await living.poll(second).json["error"] == "invalid_grant")
    }

    @Test func `a device is not slowed down by another client with its code`() async throws {
        let living = try await Living()
        try await living.world.register(
            "other",
            ["token_endpoint_auth_method": "none", "grant_types": [.string(deviceGrant)]])
        let device = try await living.ask()
        for _ in 0..<3 {
            #expect(
                try await living.poll(device, client: "other").json["error"] == "invalid_grant")
        }
        #expect(try await living.poll(device).json["error"] == "authorization_pending")
        #expect(try await living.poll(device, client: "other").json["error"] == "invalid_grant")
    }

    @Test(arguments: ["–", ".", " - ", "\u{2010}", "/", "\u{200B}", "\u{A0}"])
    func `a device is found by its user code with any separators`(mark: String) async throws {
        let living = try await Living()
        let device = try await living.ask()
        let code = (device["user_code"]?.string ?? "").replacing("-", with: mark)
        #expect(try await living.look(code.lowercased()).status == .ok)
        #expect(try await living.look(code + "1").status == .notFound)
    }

    @Test func `a device is recognised by its own device code`() async throws {
        let living = try await Living()
        try await living.world.register(
            "other",
            ["token_endpoint_auth_method": "none", "grant_types": [.string(deviceGrant)]])
        let device = try await living.ask()
        #expect(try await living.poll(device, client: "other").json["error"] == "invalid_grant")
        for code in ["urd_dc_AAAA", device["user_code"]?.string ?? "", "x"] {
            let forged = try await living.poll(["device_code": .string(code)])
            #expect(forged.json["error"] == "invalid_grant")
        }
        #expect(try await living.ask("phone")["error"] == "unauthorized_client")
        #expect(try await living.ask(scope: "jobs")["error"] == "invalid_scope")
    }

    @Test func `a device is not approved by a token of another client`() async throws {
        let living = try await Living()
        let first = try await living.ask()
        _ = try await living.decide(first["user_code"]?.string ?? "")
        let tokens = try await living.poll(first).json
        let token = try #require(tokens["access_token"]?.string)
        let second = try await living.ask(scope: "openid email offline_access")
        let code = second["user_code"]?.string ?? ""
        #expect(try await living.look(code, token: token).status == .forbidden)
        #expect(try await living.decide(code, token: token).status == .forbidden)
        #expect(try await living.poll(second).json["error"] == "authorization_pending")
    }

    @Test func `a device's user code cannot be guessed within the limit`() async throws {
        let living = try await Living()
        for _ in 0..<10 {
            #expect(try await living.look(UserCode.random().text).status == .notFound)
        }
        let device = try await living.ask()
        let code = device["user_code"]?.string ?? ""
        #expect(try await living.look(code).status == .tooManyRequests)
        #expect(try await living.decide(code).status == .tooManyRequests)
    }

    @Test func `a device that polls many times at once gets tokens once`() async throws {
        let living = try await Living()
        let device = try await living.ask()
        _ = try await living.decide(device["user_code"]?.string ?? "")
        let world = living.world
        let id = try #require(world.mint.readDeviceCode(device["device_code"]?.string ?? ""))
        let known = try #require(
            try await MemoryQueries(log: world.log).ask(
                KnownClient.byClientID, "television", in: world.realm))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    // Past the pace that the endpoint holds them to.
                    try? await world.carryOut(
                        RedeemGrant(
                            DeviceGrant(device: id),
                            GrantRequest(
                                client: known.id, clientID: "television", proof: .none,
                                session: UUID.random(), now: world.clock.next())))
                }
            }
        }
        #expect(try await world.events().count { $0 == "device.redeemed" } == 1)
    }
}

@Suite struct `A typed user code` {
    @Test func `a typed user code is read in any case and spacing`() throws {
        let code = UserCode.random()
        for text in [code.text, code.plain, code.text.lowercased(), " \(code.text) "] {
            #expect(UserCode(typed: text) == code)
        }
        for text in ["", "ABCD-EFGH", "BCDF-GHJ", "BCDF-GHJKL", "BCDF-GHJÄ", "１２３４５６７８"] {
            #expect(UserCode(typed: text) == nil, "\(text)")
        }
    }
}
