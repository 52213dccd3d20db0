import EventSourcing
import Testing
import Values

@testable import ReadModels

@Suite struct `What a webhook has yet to deliver` {
    private let webhook = UUID(high: 91, low: 1)
    private let lease = UUID(high: 91, low: 2)
    private let now = Timestamp(seconds: 1_800_000_000)

    private func delivery(
        attempts: Int, isReplay: Bool = false, isGivenUp: Bool = false
    ) -> Delivery {
        Delivery(
            position: 1, lane: .zero, type: "account.registered", attempts: attempts,
            isReplay: isReplay, isGivenUp: isGivenUp, nextAt: now.adding(seconds: 3600))
    }

    @Test func `what waits stands in the lanes of the order that is named now`() async throws {
        let (world, realm) = (try World(), try #require(RealmID("one")))
        let accounts = [UUID(high: 1, low: 1), UUID(high: 1, low: 2), UUID(high: 1, low: 1)]
        try world.append(
            [
                Happening("account.registered", accounts[0], version: 1),
                Happening("account.registered", accounts[1], version: 1),
                Happening("account.disabled", accounts[0], version: 2),
            ], in: "one")
        let store = DeliveryStore(world.pool)
        func lanes(_ order: DeliveryOrder) async throws -> [UUID] {
            let start = DeliveryStore.Start(
                LogCursor(epoch: 1, position: 0), count: 0, runs: 0, order: order)
            return try await store.claim(webhook, in: realm, by: lease, from: start)
                .waiting.map(\.lane)
        }
        let count = try await store.replay(
            1...3, types: ["account.registered", "account.disabled"], streams: [], order: .none,
            to: webhook, in: realm, at: now)
        #expect(count == 3)
        let own = (1...3).map { UUID(high: 0, low: UInt64($0)) }
        let all: [(DeliveryOrder, [UUID])] = [
            (.none, own), (.stream, accounts), (.strict, [.zero, .zero, .zero]),
            (.stream, accounts), (.none, own), (.strict, [.zero, .zero, .zero]), (.none, own),
        ]
        for (order, expected) in all {
            #expect(try await lanes(order) == expected, "\(order)")
        }
    }

    @Test(arguments: [false, true])
    func `an attempt that was under way does not undo that an event is to be sent again`(
        isGivenUp: Bool
    ) async throws {
        let (world, realm) = (try World(), try #require(RealmID("one")))
        let account = UUID(high: 1, low: 1)
        try world.append([Happening("account.registered", account, version: 1)], in: "one")
        let store = DeliveryStore(world.pool)
        let start = DeliveryStore.Start(LogCursor(epoch: 1, position: 0), count: 0, runs: 0)

        func waiting() async throws -> [Delivery] {
            try await store.claim(webhook, in: realm, by: lease, from: start).waiting
        }
        func write(_ parked: Delivery) async throws {
            var step = DeliveryStore.Step(
                DeliveryProgress(cursor: LogCursor(epoch: 1, position: 1)))
            step.parked = [parked]
            #expect(try await store.write(step, of: webhook, in: realm, by: lease))
        }
        _ = try await waiting()
        try await write(delivery(attempts: 1))
        #expect(try await waiting().map(\.attempts) == [1])

        let count = try await store.replay(
            1...1, types: ["account.registered"], streams: [], order: .none, to: webhook,
            in: realm, at: now)
        #expect(count == 1)
        try await write(delivery(attempts: 2, isGivenUp: isGivenUp))
        let again = try #require(try await waiting().first)
        #expect(again.isReplay && again.attempts == 0 && again.nextAt == now)

        // How that went counts.
        try await write(delivery(attempts: 1, isReplay: true))
        #expect(try await waiting().map(\.nextAt) == [now.adding(seconds: 3600)])
        try await write(delivery(attempts: 2, isReplay: true, isGivenUp: true))
        #expect(try await waiting().isEmpty)
        #expect(try await store.revive(webhook, in: realm, at: now) == 1)
        #expect(try await store.revive(webhook, in: realm, at: now) == 0)
    }

    @Test func `a range that is too long is cut before the first event that is too much`()
        async throws
    {
        let (world, realm) = (try World(), try #require(RealmID("one")))
        let accounts = (1...4).map { UUID(high: 1, low: UInt64($0)) }
        try world.append(
            accounts.map { Happening("account.registered", $0, version: 1) }
                + accounts.map { Happening("account.disabled", $0, version: 2) }, in: "one")
        let store = DeliveryStore(world.pool)
        func cut(_ range: ClosedRange<Int64>, _ types: [String], _ streams: [UUID], _ most: Int)
            async throws -> Int64?
        {
            try await store.cut(range, types: types, streams: streams, in: realm, most: most)
        }
        let types = ["account.registered", "account.disabled"]
        #expect(try await cut(1...8, types, [], 8) == nil)
        #expect(try await cut(1...8, types, [], 7) == 8)
        #expect(try await cut(1...8, types, [], 3) == 4)
        #expect(try await cut(3...8, types, [], 3) == 6)
        #expect(try await cut(1...8, [types[1]], [], 3) == 8)
        #expect(try await cut(1...7, [types[1]], [], 3) == nil)
        #expect(try await cut(1...8, types, [accounts[1]], 1) == 6)
    }
}
