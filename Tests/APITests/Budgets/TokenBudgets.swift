import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

/// What is counted at the token endpoint and beside it.
enum TokenBudgets {
    static func holder() async throws {
        let app = try await AppWithPeople(people: 2)
        let stolen = app.tokens[1]
        let refused = try await firstRefusal(within: 62) { _ in
            try await app.refresh(0, from: network(1))
        }
        #expect(refused?.json["dimension"] == "target")
        for _ in 0..<2 { #expect(try await app.refresh(1, from: network(1)).status == .ok) }
        // Shown by a client that it was not given to, it uses up nothing of the holder's.
        try await app.world.register(
            "other",
            [
                "token_endpoint_auth_method": "none",
                "grant_types": ["refresh_token", "urn:cocoar:otp"],
            ])
        let elsewhere: Pairs = [
            ("grant_type", "refresh_token"), ("client_id", "other"),
            ("refresh_token", app.tokens[1]),
        ]
        #expect(
            try await firstRefusal(within: 62) { _ in
                try await app.post(elsewhere, from: network(3))
            } != nil)
        #expect(try await app.refresh(1, from: network(1)).status == .ok)
        // A thief of a used one ends the session with it.
        let form: Pairs = [
            ("grant_type", "refresh_token"), ("client_id", "phone"), ("refresh_token", stolen),
        ]
        #expect(try await app.post(form, from: network(2)).json["error"] == "invalid_grant")
        #expect(try await app.refresh(1, from: network(1)).json["error"] == "invalid_grant")
        try await codes()
        try await deviceCodes()
    }

    private static func codes() async throws {
        let site = try await AuthorizeWorld()
        try await site.signIn()
        let bob = UUID.random()
        try await site.world.carryOut(
            RegisterAccount(
                account: bob, addresses: Addresses(mailbox: .random()),
                person: Person(email: "bob@example.org"), isConfirmed: true))
        try await site.world.signIn("bob", as: bob)
        let (used, next) = (try await site.code(), try await site.code())
        let others = try site.sent(try await site.authorize(browser: "bob")).with["code"]
        let refused = try await firstRefusal(within: 62) { _ in try await site.redeem(used) }
        #expect(refused?.json["dimension"] == "target")
        #expect(try await site.redeem(next).status == .ok)
        #expect(try await site.redeem(try #require(others)).status == .ok)
    }

    private static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

    private static func deviceCodes() async throws {
        let world = try await SignInWorld()
        try await world.register("television", television)
        func begin() async throws -> String {
            let begun = await world.ask(
                "/connect/deviceauthorization", [("client_id", "television")], from: network(1))
            return try #require(begun.json["device_code"]?.string)
        }
        let (mine, others) = (try await begin(), try await begin())
        func poll(_ code: String) async -> Answered {
            await world.ask(
                "/connect/token",
                [
                    ("grant_type", deviceGrant), ("client_id", "television"),
                    ("device_code", code),
                ], from: network(1))
        }
        let refused = try await firstRefusal(within: 62) { _ in await poll(mine) }
        #expect(refused?.json["dimension"] == "target")
        #expect(await poll(others).json["error"] == "authorization_pending")
    }

    private static let television: JSONObject = [
        "client_name": "Television", "token_endpoint_auth_method": "none",
        "grant_types": [.string(deviceGrant), "refresh_token"],
    ]

    static func client() async throws {
        let app = try await AppWithPeople(people: 1)
        let metadata: JSONObject = ["grant_types": ["client_credentials"], "scope": "jobs"]
        try await app.world.register("other", metadata, secret: "hush")
        func ask(_ basic: String, from source: String) async -> Answered {
            await app.world.ask(
                "/connect/token", [("grant_type", "client_credentials")], from: source,
                basic: basic)
        }
        let own = SignInWorld.serviceBasic
        let refused = try await firstRefusal(within: 62) { _ in await ask(own, from: network(1)) }
        #expect(refused?.json["dimension"] == "client")
        #expect(await ask(own, from: network(2)).status == .tooManyRequests)
        #expect(await ask("other:hush", from: network(1)).status == .ok)
        #expect(try await app.refresh(0, from: network(1)).status == .ok)
    }

    static func failures() async throws {
        let app = try await AppWithPeople(people: 1)
        let world = app.world
        let name = "new@example.org"
        #expect(await world.askForCode(["Email": .string(name)], from: network(2)).status == .ok)
        let code = try await world.mailedCode()
        let refused = try await firstRefusal(within: 70) { turn in
            try await app.guess(turn, from: network(1))
        }
        #expect(refused?.json["dimension"] == "client")
        // Who signs in anew behind the same address, while the stranger goes on.
        #expect(await world.redeem(name, code, from: network(1)).status == .tooManyRequests)
        #expect(try await app.refresh(0, from: network(1)).status == .ok)
        let metadata: JSONObject = [
            "token_endpoint_auth_method": "none", "application_type": "native",
            "grant_types": ["urn:cocoar:otp"],
        ]
        try await world.register("other", metadata)
        let other: Pairs = [
            ("grant_type", "urn:cocoar:otp"), ("client_id", "other"), ("username", name),
            ("otp_code", "x"), ("scope", "openid"),
        ]
        #expect(await world.ask("/connect/token", other, from: network(1)).status == .badRequest)
        #expect(await world.redeem(name, code, from: network(2)).status == .ok)
        // One who fails once a second leaves none of it over; a pause does.
        world.clock.advance(seconds: 2)
        #expect(await world.redeem(name, "x", from: network(1)).status == .badRequest)
    }

    static func clientSecrets() async throws {
        let world = try await SignInWorld()
        let form: Pairs = [("grant_type", "client_credentials")]
        for turn in 0..<400 {
            let answer = await world.ask(
                "/connect/token", form, from: network(turn), basic: "service:wrong\(turn)")
            #expect(answer.status == .unauthorized)
        }
        for source in [network(1), "198.51.100.1"] {
            let own = await world.ask(
                "/connect/token", form, from: source, basic: SignInWorld.serviceBasic)
            #expect(own.status == .ok)
        }
        // Summed up: no record for each.
        #expect(try await world.events().count < 100)
    }

    static func beginnings() async throws {
        let world = try await SignInWorld(["primary_domain": "acme.example"])
        try await world.register("television", television)
        try await world.register(
            "box", television.merging(["token_endpoint_auth_method": "client_secret_basic"]) { $1 },
            secret: "hush")
        for (path, client, most) in [
            ("/connect/passkey/begin", "phone", 320),
            ("/connect/deviceauthorization", "television", 62),
        ] {
            func begin(_ source: String) async -> Answered {
                await world.ask(path, [("client_id", client)], from: source)
            }
            #expect(try await firstRefusal(within: most) { _ in await begin(network(1)) } != nil)
            #expect(await begin(network(1)).status == .tooManyRequests)
            // Strangers at many networks together use up no more than their own.
            for turn in 0..<700 { _ = await begin(network(turn % 200)) }
            #expect(await begin("198.51.100.1").status == .ok)
        }
        func begin(_ turn: Int) async -> Answered {
            await world.ask(
                "/connect/deviceauthorization", [], from: network(1000 + turn % 100),
                basic: "box:hush")
        }
        let refused = try await firstRefusal(within: 700) { await begin($0) }
        #expect(refused?.json["dimension"] == "client")
        #expect(await begin(9999).status == .tooManyRequests)
    }

    static func accounts() async throws {
        let world = try await SignInWorld()
        func signIn(_ name: String) async throws -> String {
            _ = await world.askForCode(["Email": .string(name)], from: network(1))
            let answer = await world.redeem(name, try await world.mailedCode(), from: network(1))
            return try #require(answer.json["access_token"]?.string)
        }
        let (ann, bob) = (try await signIn("ann@example.org"), try await signIn("bob@example.org"))
        func typeCode(_ token: String) async -> Answered {
            await world.ask(
                "/connect/totp/enroll", json: ["Code": "000000"], from: network(1), bearer: token)
        }
        func look(_ token: String) async -> Answered {
            await world.ask(
                "/api/account/device", from: network(1), method: .get, bearer: token,
                query: Form.encode([("user_code", UserCode.random().text)]))
        }
        for act in [typeCode, look] {
            let refused = try await firstRefusal(within: 17) { _ in await act(ann) }
            #expect(refused?.json["dimension"] == "target")
            #expect(await act(bob).status != .tooManyRequests)
        }
    }
}
