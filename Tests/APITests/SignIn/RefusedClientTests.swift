import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `A failed client authentication` {
    /// What is on record, once what is due was recorded.
    private func refused(_ world: SignInWorld, all: Bool = false) async throws -> [Recorded] {
        await world.contexts.recordDueRefusals(all: all)
        return try await world.log.events(from: 1, limit: .max, in: world.realm).filter {
            $0.name == "session.refused"
        }
    }

    @Test(arguments: [
        ("/connect/token", "authorization_code"), ("/connect/token", "refresh_token"),
        ("/connect/token", "client_credentials"), ("/connect/introspect", ""),
        ("/connect/revoke", ""), ("/connect/par", ""),
    ])
    func `a failed client authentication is recorded`(path: String, grant: String) async throws {
        let world = try await SignInWorld()
        let answer = try await world.post(
            path, form: [("grant_type", grant), ("token", "x")].filter { $0.1 != "" },
            basic: "service:wrong")
        #expect(answer.json["error"] == "invalid_client")
        let events = try await refused(world)
        #expect(events.count == 1)
        let event = try #require(events.first)
        #expect(event.actor == "anonymous" && event.client == "service")
        #expect(event.open["client_id"] == "service" && event.open["reason"] == "invalid_client")
        #expect(event.open["method"]?.string == (grant.isEmpty ? "client_credentials" : grant))
        #expect(event.open["source"] != nil && event.open["account"] == nil)
    }

    @Test func `a failed client authentication is recorded for every kind of credential`()
        async throws
    {
        let world = try await SignInWorld()
        let grant = [(name: "grant_type", value: "client_credentials")]
        let shown: [[(name: String, value: String)]] = [
            [("client_id", "service")], [("client_id", "service"), ("client_secret", "x")],
            [("client_id", "phone"), ("client_secret", "x")],
        ]
        for more in shown {
            #expect(
                try await world.post("/connect/token", form: grant + more).json["error"]
                    == "invalid_client")
        }
        let events = try await refused(world, all: true)
        #expect(try events.map { try $0.refused.count }.reduce(0, +) == shown.count)
        #expect(Set(events.compactMap(\.client)) == ["service", "phone"])
    }

    @Test func `a failed client authentication of an unknown client id is not recorded`()
        async throws
    {
        let world = try await SignInWorld()
        let before = try await world.events()
        for basic in ["nobody:x", "service%00:x", ":x"] {
            let answer = try await world.post(
                "/connect/token", form: [("grant_type", "client_credentials")], basic: basic)
            #expect(answer.status != .ok)
        }
        #expect(try await world.events() == before)
    }

    @Test func `a failed client authentication is told from a disabled client`() async throws {
        let world = try await SignInWorld()
        let id = UUID.random()
        let digest = try #require(SecretDigest(SHA256.hash(Array("x".utf8))))
        try await world.carryOut(
            RegisterClient(
                id: id, clientID: "job",
                metadata: ["grant_types": ["client_credentials"], "scope": "jobs"], secret: digest))
        try await world.carryOut(ClientChange.disable(id))
        let answer = try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials")], basic: "job:x")
        #expect(answer.json["error"] == "invalid_client")
        #expect(try await refused(world).map { $0.open["reason"] } == ["client_disabled"])
    }

    private func guess(_ world: SignInWorld, _ basic: String = "service:wrong") async throws {
        let answer = try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials")], basic: basic)
        #expect(answer.json["error"] == "invalid_client")
    }

    /// Six hundred a minute for ever would be without bound.
    @Test func `failed client authentications make two records in ten minutes, with their number`()
        async throws
    {
        let world = try await SignInWorld(["rate_limits": ["oauth-token": ["source": .null]]])
        var guesses = 0
        for minute in 0..<30 {
            for _ in 0..<20 { try await guess(world) }
            guesses += 20
            await world.contexts.recordDueRefusals()
            world.clock.advance(seconds: 60)
            let counts = try await refused(world).map { try $0.refused.count }
            #expect(counts.count <= 2 + minute / 10, "\(minute)")
            #expect(counts.first == 20)
        }
        // Whatever is left is recorded at the end.
        let events = try await refused(world, all: true)
        #expect(try events.map { try $0.refused.count }.reduce(0, +) == guesses)
        #expect(events.allSatisfy { $0.open["source"] != nil })
        // And of a quiet client there is nothing more to say.
        world.clock.advance(seconds: 6000)
        #expect(try await refused(world).count == events.count)
    }

    @Test func `failed client authentications are summed by client, and a new client's at once`()
        async throws
    {
        let world = try await SignInWorld(["rate_limits": ["oauth-token": ["source": .null]]])
        try await world.register(
            "other", ["grant_types": ["client_credentials"], "scope": "jobs"], secret: "x")
        try await guess(world)
        #expect(try await refused(world).compactMap(\.client) == ["service"])
        try await guess(world)
        try await guess(world, "other:wrong")
        #expect(try await refused(world).compactMap(\.client) == ["service", "other"])
    }

    @Test func `failed client authentications are recorded after an outage of the log`()
        async throws
    {
        let world = try await SignInWorld()
        for _ in 0..<3 { try await guess(world) }
        world.log.fail(with: .unavailable)
        await world.contexts.recordDueRefusals()
        world.log.fail(with: nil)
        try await guess(world)
        #expect(try await refused(world).map { try $0.refused.count } == [4])
    }

    /// RFC 9700 knows no secret in a client's name, but how long an answer takes is not the place to tell it.
    @Test func `failed client authentications are summed for a bounded number of clients`()
        async throws
    {
        let world = try await SignInWorld()
        let sums = RefusedClientCounters()
        let origin = Origin(actor: "anonymous", at: world.clock.next())
        func add(_ client: UUID) {
            sums.add(
                RefusedSignIn(
                    method: .clientCredentials, reason: "invalid_client", account: nil,
                    client: client, clientID: "x", app: nil, from: SignInPlace()), origin,
                to: .init(realm: world.realm, client: client, reason: "invalid_client"))
        }
        let first = UUID.random()
        for _ in 0..<2 { add(first) }
        for _ in 0..<RefusedClientCounters.mostPerRealm { add(.random()) }
        // Those that are summed already still are.
        add(first)
        let due = sums.take(at: .zero)
        #expect(due.count == RefusedClientCounters.mostPerRealm)
        #expect(due.first { $0.key.client == first }?.sum.refused.count == 3)
    }

    @Test func `failed client authentications of known and unknown clients take the same work`()
        async throws
    {
        let world = try await SignInWorld()
        func lookups(_ basic: String) async throws -> Int {
            let (before, events) = (world.log.lookups, try await world.events().count)
            try await guess(world, basic)
            #expect(try await world.events().count == events)
            return world.log.lookups - before
        }
        // Whether it was asked for before or not.
        for (wrong, unknown) in [
            ("service:wrong", "nobody:wrong"), ("service:wrong", "nobody:wrong"),
            ("phone:wrong", "others:wrong"),
        ] {
            #expect(try await lookups(wrong) == 1)
            #expect(try await lookups(unknown) == 1)
        }
        _ = try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials")],
            basic: SignInWorld.serviceBasic)
        #expect(try await lookups("service:wrong") == 1, "What is kept is no reason to refuse.")
    }
}

extension Recorded {
    fileprivate var refused: RefusedSignIn {
        get throws {
            guard case .refused(let refused)? = SessionEvent(self) else { throw NoRefusal() }
            return refused
        }
    }

    private struct NoRefusal: Error {}
}
