import EventSourcing
import JSON
import Postgres
import Testing
import Values

@testable import EventStore
@testable import ReadModels

@Suite struct `A request that the key of a session signed` {
    private let world: World
    private let queries: ReadModelQueries
    private let session = UUID(high: 11, low: 1)
    private let realm: RealmID

    init() throws {
        world = try World()
        realm = try #require(RealmID("one"))
        queries = world.queries
        try world.open(session, of: UUID(high: 1, low: 1), at: UUID(high: 9, low: 9))
    }

    /// Whether a request is taken whose signature is right for one number of the session.
    private func isTaken(_ sequence: Int64, generation: Int = 0) async throws -> Bool {
        let session = session
        let line = try await queries.line(of: session, signing: sequence, in: realm) {
            $0.id == session && $0.generation == generation
        }
        if let line { #expect(line.session.generation == generation) }
        return line != nil
    }

    @Test func `a rightly signed request is taken once, and none with a lower number after it`()
        async throws
    {
        #expect(try await isTaken(10))
        #expect(try await !isTaken(10))
        #expect(try await !isTaken(9))
        #expect(try await isTaken(11))
        // By the guard of all nodes.
        let other = RequestSequenceStore(world.pool)
        #expect(try await other.advance(session, to: 11, in: realm) == false)
        #expect(try await other.advance(session, to: 12, in: realm))
        #expect(try await !isTaken(12))
    }

    @Test func `a wrongly signed request moves no number`() async throws {
        #expect(try await !isTaken(1_000, generation: 1))
        #expect(try await isTaken(1))
    }

    @Test func `the key is that of the session as the log has it at the request`() async throws {
        #expect(try await isTaken(1))
        try world.append(
            [Happening("session.refreshed", session, version: 2, #"{"generation":1}"#)], in: "one")
        #expect(try await !isTaken(2))
        #expect(try await isTaken(2, generation: 1))
        try world.append(
            [Happening("session.ended", session, version: 3, #"{"reason":"signed_out"}"#)],
            in: "one")
        let line = try await queries.line(of: session, signing: 3, in: realm) { _ in true }
        #expect(line?.session.isOver == true)
    }

    @Test func `a request of a session that never was moves no number`() async throws {
        let unknown = UUID(high: 12, low: 12)
        let line = try await queries.line(of: unknown, signing: 5, in: realm) { _ in
            Issue.record("There is no key to compare with.")
            return true
        }
        #expect(line == nil)
        #expect(try await RequestSequenceStore(world.pool).advance(unknown, to: 1, in: realm))
    }

    @Test func `of fifty requests with one number one is taken`() async throws {
        let (queries, realm, session) = (queries, realm, session)
        let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await queries.line(of: session, signing: 7, in: realm) { _ in true } != nil
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(taken == 1)
    }

    @Test func `a request is not answered as taken where its number cannot be kept`() async throws {
        try world.superuser.run(
            "alter table urd.request_sequence add constraint none check (sequence < 5) not valid")
        #expect(try await isTaken(4))
        await #expect(throws: LogFailure.unavailable) { try await isTaken(5) }
    }

    private func recorded(_ stream: UUID) -> Recorded {
        Recorded(
            realm: realm, position: 1, stream: stream, version: 1, name: "thing.made", revision: 1,
            at: Timestamp(microseconds: 0), command: .zero, subject: nil, actor: "", client: nil,
            correlation: nil, leaf: LeafHash([UInt8](repeating: 0, count: 32))!, open: [:],
            personal: .none)
    }

    /// What each look shows is told to whoever keeps streams in memory.
    @Test func `each look at a session shows which streams have moved since the one before`()
        async throws
    {
        let proofs = StreamProofs()
        let queries = ReadModelQueries(world.pool, hub: CommitHub(), proofs: proofs)
        let stream = UUID(high: 44, low: 1)
        func look() async throws {
            _ = try await queries.ask(SessionLine.bySession, session, in: realm)
        }
        func isKnown(since moment: ContinuousClock.Instant) -> Bool {
            proofs.find(stream, in: realm, epoch: 1, since: moment) != nil
        }
        try await look()
        proofs.keep([(recorded(stream), nil)], 1, at: .now)
        let first = ContinuousClock.now
        #expect(!isKnown(since: first))
        try await look()
        #expect(isKnown(since: first))
        try world.append(
            [Happening("session.refreshed", session, version: 2, #"{"generation":1}"#)], in: "one")
        let second = ContinuousClock.now
        try await look()
        #expect(isKnown(since: second))
        try world.superuser.run("update urd.realm_log set erasures = erasures + 1")
        let third = ContinuousClock.now
        try await look()
        #expect(!isKnown(since: third))
    }
}
