import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@testable import API

@Suite struct `Personal data that is streamed` {
    private let now = Timestamp(seconds: 1000)
    private let subscription = UUID(high: 0, low: 9)
    private let realm: RealmID

    init() throws {
        realm = try #require(RealmID("acme"))
    }

    private func record(
        _ disclosure: inout StandingDisclosure, at time: Timestamp, to log: MemoryLog
    ) async throws -> Bool {
        guard let batch = disclosure.batch(at: time) else { return false }
        try await disclosure.record(
            batch, at: time, in: realm, by: "webhooks",
            id: UUID(high: 5, low: UInt64(time.seconds)), Dispatcher(log: log))
        return true
    }

    private func add(_ positions: ClosedRange<Int64>, to disclosure: inout StandingDisclosure) {
        for position in positions {
            disclosure.add(
                .init(position: position, subject: UUID(high: 1, low: UInt64(position % 3))))
        }
    }

    @Test func `streamed personal data goes on record at once, and then once a minute`()
        async throws
    {
        let log = MemoryLog()
        var disclosure = StandingDisclosure(of: subscription)
        #expect(disclosure.due(at: now) == nil)
        add(4...4, to: &disclosure)
        #expect(disclosure.isWaiting(4) && !disclosure.isWaiting(5))
        #expect(try await record(&disclosure, at: now, to: log))
        #expect(!disclosure.isWaiting(4))
        add(6...9, to: &disclosure)
        #expect(try await !record(&disclosure, at: now.adding(seconds: 59), to: log))
        #expect(disclosure.isWaiting(6))
        #expect(disclosure.due(at: now.adding(seconds: 1)) == now.adding(seconds: 60))
        #expect(try await record(&disclosure, at: now.adding(seconds: 60), to: log))
        let events = try await log.events(from: 1, limit: 10, in: realm)
        #expect(events.map(\.name) == ["personal_data.streamed", "personal_data.streamed"])
        #expect(
            DisclosureEvent(events[1])
                == .streamed(
                    StreamedBatch(
                        subscription: subscription, positions: 6...9,
                        subjects: (0...2).map { UUID(high: 1, low: $0) })))
        #expect(events.allSatisfy { $0.personal == .none && $0.actor == "webhooks" })
    }

    @Test func `a thousand events are one record, which waits for no minute`() async throws {
        let log = MemoryLog()
        var disclosure = StandingDisclosure(of: subscription)
        add(1...1, to: &disclosure)
        #expect(try await record(&disclosure, at: now, to: log))
        add(2...2501, to: &disclosure)
        #expect(try await record(&disclosure, at: now.adding(seconds: 1), to: log))
        #expect(try await record(&disclosure, at: now.adding(seconds: 2), to: log))
        #expect(try await !record(&disclosure, at: now.adding(seconds: 3), to: log))
        #expect(!disclosure.isWaiting(2001) && disclosure.isWaiting(2002))
        let events = try await log.events(from: 1, limit: 10, in: realm)
        #expect(events.map { $0.open["from"]?.integer } == [1, 2, 1002])
        #expect(events.map { $0.open["to"]?.integer } == [1, 1001, 2001])
    }

    @Test func `a clock that goes back keeps nothing waiting for longer`() async throws {
        let log = MemoryLog()
        var disclosure = StandingDisclosure(of: subscription)
        add(1...1, to: &disclosure)
        #expect(try await record(&disclosure, at: now, to: log))
        add(2...2, to: &disclosure)
        #expect(disclosure.due(at: now.adding(seconds: -900)) == now.adding(seconds: -840))
    }
}
