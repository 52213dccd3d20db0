import EventSourcing
import Postgres
import PostgresTesting
import Synchronization
import Testing
import Values

@testable import EventStore

@Suite struct `The time of the database` {
    private let start: Int64 = 1_795_225_283_000_000
    private let hour: Int64 = 3_600_000_000

    private func reading(_ there: Int64, _ here: Int64, error: Int64 = 500) -> TimeScale.Reading {
        TimeScale.Reading(there: start + there, here: here, error: error)
    }

    @Test func `the database's time goes on between two readings`() {
        var scale = TimeScale()
        #expect(scale.time(at: 0) == nil)
        scale.take(reading(0, 1000))
        #expect(scale.time(at: 1000) == start)
        #expect(scale.time(at: 61_001_000) == start + 61_000_000)
        #expect(scale.error(at: 1_001_000).map { $0 > 500 && $0 < 1000 } == true)
    }

    @Test func `the database's time is taken from the quickest answer`() {
        var scale = TimeScale()
        scale.take(reading(0, 0))
        // Two seconds under way: what it says is within what is known.
        scale.take(reading(900_000, 1_000_000, error: 1_000_000))
        #expect(scale.time(at: 1_000_000) == start + 1_000_000)
        scale.take(reading(2_000_300, 2_000_000, error: 400))
        #expect(scale.time(at: 2_000_000) == start + 2_000_300)
    }

    @Test func `the database's time follows a clock that was set forward at once`() {
        var scale = TimeScale()
        scale.take(reading(0, 0))
        scale.take(reading(hour, 1000, error: 20_000))
        #expect(scale.time(at: 1000) == start + hour)
    }

    @Test func `the database's time runs at half pace until a clock that was set back catches up`()
    {
        var scale = TimeScale()
        scale.take(reading(0, 0))
        scale.take(reading(1_000_000 - hour, 1_000_000))
        #expect(scale.time(at: 1_000_000) == start + 1_000_000)
        #expect(scale.time(at: 61_000_000) == start + 31_000_000)
        // Another reading says the same.
        scale.take(reading(121_000_000 - hour, 121_000_000))
        #expect(scale.time(at: 121_000_000) == start + 61_000_000)
        // Twice as much as it was set back: there it is.
        #expect(scale.time(at: 2 * hour + 1_000_000) == start + hour + 1_000_000)
        #expect(scale.time(at: 3 * hour) == start + 2 * hour)
    }

    @Test func `the database's time is the same for two machines an hour apart`() async throws {
        let store = try TestStore()
        let machines = [-hour, hour].map { offset in
            DatabaseClock(machine: { Timestamp(microseconds: start + offset) })
        }
        #expect(machines[0].difference == nil)
        #expect(machines[0].now() == Timestamp(microseconds: start - hour), "Not read yet.")
        for clock in machines {
            try await store.pool.run { connection throws(Failure) in try clock.read(connection) }
        }
        let (first, second) = (machines[0].now(), machines[1].now())
        let errors = (machines[0].error ?? .max) + (machines[1].error ?? .max)
        // What passed between the two looks at them is in the difference too.
        #expect(second.microseconds(since: first) > -errors)
        let apart = try #require(machines[0].difference) - #require(machines[1].difference)
        #expect(abs(apart + 2 * hour) < errors + 10_000_000)
    }

    @Test func `the database's time is read on every new connection before its first work`()
        async throws
    {
        let store = try TestStore()
        let clock = DatabaseClock(machine: { Timestamp(microseconds: 0) })
        let pool = Database(store.database.application, connections: 1, opened: clock.read)
        defer { pool.close() }
        let known = try await pool.run { _ throws(Failure) in clock.difference != nil }
        #expect(known)
    }
}

@Suite struct `The time on record in a realm` {
    private let later = testTime.adding(seconds: 3600)

    private func append(to store: TestStore, in realm: RealmID, at time: Timestamp) async throws {
        var commit = commit(to: newID(), in: realm)
        commit.origin.at = time
        try expectWon(try await store.log.append(commit))
    }

    @Test
    func `a realm's latest time is known to a node that writes it, reads it or is notified of it`()
        async throws
    {
        let writer = try TestStore()
        let reader = try TestStore(writer.database, master: writer.master)
        defer { writer.log.close() }
        defer { reader.log.close() }
        let (first, second) = (newRealm(), newRealm())
        try await append(to: writer, in: first, at: later)
        #expect(writer.log.latestTime(in: first) == later)
        #expect(reader.log.latestTime(in: first) == nil)
        _ = try await reader.log.head(of: first)
        #expect(reader.log.latestTime(in: first) == later)
        try await append(to: writer, in: second, at: testTime)
        try await append(to: writer, in: second, at: later)
        #expect(reader.log.latestTime(in: second) == nil)
        await reader.log.pollHeads()
        #expect(reader.log.latestTime(in: second) == later)
        #expect(reader.log.times.furthest?.at == later)
        // What was appended last is not always of the latest time.
        try await append(to: writer, in: second, at: testTime)
        await reader.log.pollHeads()
        #expect(reader.log.latestTime(in: second) == later)
    }
}
