import EventSourcing
import Postgres
import Testing
import Values

@testable import ReadModels

@Suite struct `The replay guard of signed requests` {
    private let world: World
    private let realm: RealmID
    private let token = UUID(high: 71, low: 1)

    init() throws {
        world = try World()
        realm = try #require(RealmID("one"))
    }

    @Test func `a number is taken where it is above all before it`() async throws {
        let guarding = RequestSequenceStore(world.pool)
        var highest: [UUID: Int64] = [:]
        for _ in 0..<200 {
            let token = UUID(high: 71, low: .random(in: 1...3))
            let number = Int64.random(in: 1...60)
            let isNew = try await guarding.advance(token, to: number, in: realm)
            #expect(isNew == (number > highest[token] ?? 0), "\(number) of \(highest)")
            highest[token] = max(number, highest[token] ?? 0)
        }
    }

    /// Each node asks for what came at the same time by one statement.
    @Test func `of numbers that come at once to two nodes each is taken once at most`()
        async throws
    {
        let nodes = [RequestSequenceStore(world.pool), RequestSequenceStore(world.pool)]
        let (realm, token) = (realm, token)
        let taken = try await withThrowingTaskGroup(of: (UUID, Int64, Bool).self) { group in
            for number in 1...40 as ClosedRange<Int64> {
                for time in 0..<4 {
                    let token = time % 2 == 0 ? token : UUID(high: 71, low: UInt64(number))
                    group.addTask {
                        let isNew = try await nodes[time / 2].advance(token, to: number, in: realm)
                        return (token, number, isNew)
                    }
                }
            }
            var taken: [(UUID, Int64)] = []
            for try await (token, number, isNew) in group where isNew {
                taken.append((token, number))
            }
            return taken
        }
        let ours = taken.filter { $0.0 == token }.map(\.1)
        #expect(Set(ours).count == ours.count, "\(ours.sorted())")
        #expect(ours.max() == 40)
        #expect(try await nodes[0].advance(token, to: 40, in: realm) == false)
        #expect(try await nodes[1].advance(token, to: 41, in: realm))
    }

    @Test func `what has no number is remembered for all nodes and beside the numbers`()
        async throws
    {
        let nodes = [RequestSequenceStore(world.pool), RequestSequenceStore(world.pool)]
        let (realm, token) = (realm, token)
        @Sendable func remember(
            _ digest: UInt8, _ node: Int, of token: UUID
        ) async throws -> Bool {
            try await nodes[node].remember(
                [digest], of: token, most: 3, lasts: digest.isMultiple(of: 2), in: realm)
        }
        let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
            for time in 0..<20 {
                group.addTask { try await remember(1, time % 2, of: token) }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(taken == 1)
        #expect(try await remember(1, 1, of: UUID(high: 71, low: 2)))
        // Each moves nothing of the other.
        #expect(try await nodes[0].advance(token, to: 5, in: realm))
        #expect(try await remember(2, 0, of: token))
        #expect(try await nodes[1].advance(token, to: 5, in: realm) == false)
        #expect(try await nodes[1].advance(token, to: 6, in: realm))
    }

    @Test func `beyond so many nothing more is remembered and nothing forgotten`() async throws {
        let nodes = [RequestSequenceStore(world.pool), RequestSequenceStore(world.pool)]
        let (realm, token) = (realm, token)
        let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<30 as Range<UInt8> {
                group.addTask {
                    try await nodes[Int(number % 2)].remember(
                        [number], of: token, most: 10, lasts: true, in: realm)
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(taken == 10)
        // Housekeeping takes those alone whose keys have ended, a month later at the earliest.
        for day in ["current_date", "current_date - 1"] {
            try world.superuser.run(
                "update urd.untimed_request set forget_on = \(day) where digest < '\\x05'")
            try await nodes[0].forgetUnused(in: realm)
        }
        for number in 0..<30 as Range<UInt8> {
            _ = try await nodes[0].remember(
                [number], of: token, most: 30, lasts: false, in: realm)
        }
        let rows = try world.superuser.executeOnce(
            """
            select count(*), count(*) filter (where forget_on = current_date + 31)
            from urd.untimed_request
            """, Parameters())
        #expect(rows.int64(0, 0) == 30)
        #expect((20...25).contains(rows.int64(0, 1)))
    }

    @Test func `numbers that wait for one statement are taken in their order`() async throws {
        let guarding = RequestSequenceStore(world.pool)
        let (realm, token) = (realm, token)
        try #require(try await guarding.advance(token, to: 10, in: realm))
        let uses: Set<RequestSequenceStore.Use> = Set(
            [7, 10, 12, 12, 11, 13].enumerated().map { number, sequence in
                RequestSequenceStore.Use(
                    token: token, sequence: Int64(sequence), request: Int64(number))
            })
        let answers = try await world.pool.run { connection in
            RequestSequenceStore.advance(Array(uses), in: realm, over: connection)
        }
        let taken = try answers.get().filter { (try? $0.value.get()) == true }.keys
        #expect(taken.map(\.sequence).sorted() == [11, 12, 13])
        #expect(taken.first { $0.sequence == 12 }?.request == 2)
    }
}
