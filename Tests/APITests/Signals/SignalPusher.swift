import EventSourcing
import Identity
import JOSE
import JSON
import ReadModels
import Testing
import Values

@testable import API

/// A stream whose signals are pushed, without the network.
struct SignalPusher {
    let ours: SignalWorld
    let feed: SignalReader
    let stream: UUID
    let queries: MemoryQueries

    init() async throws {
        ours = try await SignalWorld(try await SignInWorld())
        let id = try await ours.create([
            "events_requested": [.string(SignalKind.sessionRevoked.uri)],
            "delivery": [
                "method": "urn:ietf:rfc:8935", "endpoint_url": "https://siem.example/signals",
                "authorization_header": "Bearer b",
            ],
        ])
        stream = try #require(UUID(id))
        queries = MemoryQueries(log: ours.world.log)
        let (log, clock, mint) = (ours.world.log, ours.world.clock, ours.world.mint)
        let realmClock = RealmContext.Clock(
            now: { clock.next() }, passed: { .seconds(clock.next().seconds) })
        feed = SignalReader(
            mint: { _ in mint },
            keys: TokenKeys(
                commands: Dispatcher(log: log), clock: realmClock,
                revision: { _ in log.revision }, generate: { try .generate($0) }),
            events: log, queries: queries, pages: SignalPages(log), clock: realmClock)
    }

    func posts() async throws -> [SignalPost] {
        guard case .post(let posts) = try await feed.work(for: stream, in: ours.world.realm)
        else { return [] }
        return posts
    }

    func settle(
        _ post: SignalPost, _ status: Int, error: String? = nil
    ) async throws -> Bool {
        let body = error.map { JSON.object(["err": .string($0)]).canonical() } ?? []
        let receipt = SignalReceipt(status: status, body: body, retryAfter: nil)
        return try await feed.settle([(post, receipt)], of: stream, in: ours.world.realm)
            .rest.isEmpty
    }

    func kind(_ post: SignalPost) throws -> String {
        SignalWorld.kinds([try JWTWorld.claims(post.token)]).first ?? ""
    }

    /// By the receiver, whose token may be over.
    func resume() async throws {
        let world = ours.world
        try await world.carryOut(
            SignalStreamChange.setStatus(stream, client: try await client, status: .enabled))
        try await queries.resumeSignals(of: stream, in: world.realm, at: world.clock.next())
    }

    var client: UUID {
        get async throws {
            try #require(
                try await queries.ask(KnownClient.byClientID, "siem", in: ours.world.realm)
            ).id
        }
    }
}
