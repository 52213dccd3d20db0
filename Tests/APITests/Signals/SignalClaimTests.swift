import EventSourcing
import Identity
import JOSE
import JSON
import ReadModels
import Testing
import Values

@testable import API

private let ann = UUID(high: 0x0193_a0e7_5e0c_7000, low: 0x9000_0000_0000_0001)

@Suite struct `What signals say of a person` {
    private func account(_ ours: SignalWorld) async throws {
        try await ours.happen(
            AccountEvent.registered(
                mailbox: UUID.random(), isConfirmed: true, origin: .code,
                person: Person(email: "ann@example.org", firstName: "Ann")), in: ann, of: ann)
    }

    private func change(_ ours: SignalWorld) async throws {
        try await ours.happen(
            AccountEvent.personChanged(Person(email: "ann@example.net", firstName: "Anna")),
            in: ann, of: ann)
    }

    /// A session of the receiver's own client with the person.
    private func session(_ scope: [String], _ ours: SignalWorld) async throws {
        let queries = MemoryQueries(log: ours.world.log)
        let client = try #require(
            try await queries.ask(KnownClient.byClientID, "siem", in: ours.world.realm))
        let now = ours.world.clock.next()
        let terms = SessionTerms(
            account: ann, stamp: 0, client: client.id, clientID: "siem", app: nil, scope: scope,
            resources: [], factors: [.mailedCode], openedAt: now,
            expiresAt: now.adding(seconds: 3_600), isOffline: false, from: SignInPlace(),
            method: .nativeOTP)
        try await ours.happen(SessionEvent.opened(terms), in: UUID.random(), of: ann)
    }

    private static let wanted: JSONObject = [
        "events_requested": [.string(SignalKind.tokenClaimsChange.uri)]
    ]

    private func told(_ ours: SignalWorld, _ stream: String) async throws -> [JSON] {
        try await ours.take(stream).compactMap {
            $0["events"]?[SignalKind.tokenClaimsChange.uri]?["claims"]
        }
    }

    @Test func `new values are told as far as the client's sessions with the person reach`()
        async throws
    {
        let ours = try await SignalWorld(try await SignInWorld())
        try await account(ours)
        let stream = try await ours.create(.object(Self.wanted))
        try await session(["openid", "email"], ours)
        try await change(ours)
        #expect(try await told(ours, stream) == [["email": "ann@example.net"]])
        try await session(["openid", "profile"], ours)
        try await ours.happen(
            AccountEvent.personChanged(
                Person(email: "ann@example.net", firstName: "Anna", language: "de")),
            in: ann, of: ann)
        #expect(try await told(ours, stream) == [["locale": "de"]])
    }

    @Test func `without a session of the client's nothing is told, and nothing without asking`()
        async throws
    {
        let ours = try await SignalWorld(try await SignInWorld())
        try await account(ours)
        let asked = try await ours.create(.object(Self.wanted))
        let unasked = try await ours.create()
        try await change(ours)
        #expect(try await told(ours, asked).isEmpty)
        try await session(["openid", "email"], ours)
        try await ours.happen(
            AccountEvent.personChanged(Person(email: "ann@example.com", firstName: "Anna")),
            in: ann, of: ann)
        #expect(try await told(ours, unasked).isEmpty)
        #expect(try await told(ours, asked) == [["email": "ann@example.com"]])
    }

    @Test func `a signal tells no values of claims of an erased account`() async throws {
        let ours = try await SignalWorld(try await SignInWorld())
        try await account(ours)
        let stream = try await ours.create(.object(Self.wanted))
        try await session(["openid", "email"], ours)
        try await change(ours)
        ours.world.log.erase(ann, in: ours.world.realm)
        #expect(try await told(ours, stream).isEmpty)
    }

    @Test(arguments: [
        ([AuthenticationFactor.passphrase], [AuthenticationFactor.passkey], "increase"),
        ([.multiple], [.passkey], "decrease"),
        ([.passkey], [.passkey], nil),
    ])
    func `a browser that goes on with other factors has another level of assurance`(
        before: [AuthenticationFactor], after: [AuthenticationFactor], direction: String?
    ) async throws {
        let ours = try await SignalWorld(try await SignInWorld())
        let stream = try await ours.create([
            "events_requested": [.string(SignalKind.assuranceLevelChange.uri)]
        ])
        _ = try await ours.take(stream)
        let (first, second) = (UUID.random(), UUID.random())
        let now = ours.world.clock.next()
        func terms(_ factors: [AuthenticationFactor]) throws -> BrowserTerms {
            BrowserTerms(
                account: ann, stamp: 0, method: .passkey, factors: factors,
                digest: try #require(SecretDigest([UInt8](repeating: 1, count: 32))),
                openedAt: now, expiresAt: now.adding(seconds: 60))
        }
        try await ours.happen(BrowserSessionEvent.opened(try terms(before)), in: first, of: ann)
        var next = try terms(after)
        next.line = first
        _ = try await ours.world.log.append(
            Commit(
                realm: ours.world.realm, command: UUID.random(),
                origin: Origin(actor: "user:test", at: now), reads: [first: 1, second: 0],
                events: [
                    NewEvent(BrowserSessionEvent.opened(next), in: second, of: ann),
                    NewEvent(BrowserSessionEvent.ended(.replaced), in: first, of: ann),
                ]))
        let told = try await ours.take(stream).compactMap {
            $0["events"]?[SignalKind.assuranceLevelChange.uri]
        }
        #expect(told.compactMap { $0["change_direction"]?.string } == [direction].compactMap { $0 })
    }

    @Test func `the events of a realm are read once for all its streams`() async throws {
        let ours = try await SignalWorld(try await SignInWorld())
        var streams: [String] = []
        for _ in 0..<10 { streams.append(try await ours.create()) }
        for stream in streams { _ = try await ours.take(stream) }
        let before = ours.world.log.pagesRead
        try await ours.end(try await ours.session(of: ann), of: ann)
        for stream in streams { #expect(try await ours.poll(stream).count == 2) }
        #expect(ours.world.log.pagesRead - before == 1)
    }

    @Test func `of fifty polls at once that confirm the same none fails and nothing comes twice`()
        async throws
    {
        let ours = try await SignalWorld(try await SignInWorld())
        let stream = try await ours.create()
        try await ours.end(try await ours.session(of: ann), of: ann)
        let first = try await ours.poll(stream)
        let names = JSON.array(first.keys.sorted().map { .string($0) })
        let left = try await withThrowingTaskGroup { group in
            for _ in 0..<50 {
                group.addTask { try await ours.poll(stream, ["ack": names]).count }
            }
            return try await group.reduce(0, +)
        }
        #expect(left == 0)
    }
}
