import EventSourcing
import Postgres
import PostgresTesting
import Synchronization

/// What it costs to append.
enum AppendFigures {
    static func append(_ workshop: Workshop) async throws -> [Figure] {
        let store = try workshop.bed.makeStore()
        defer { store.close() }
        let load = AppendLoad(log: store.log, realm: store.realm)
        let pgbench = PgBench(database: workshop.bed.bare)
        let slice = workshop.size(short: 2, full: 15)
        let count = 5
        workshop.progress.begin("append", rounds: count)
        _ = try await load.run(seconds: 1)
        let rounds = try await Rounds.run(count, workshop.progress) {
            try await load.run(seconds: Double(slice)).rate
        } limit: {
            try pgbench.inserts(clients: 32, seconds: slice).perSecond
        }
        workshop.fullLoad.withLock { $0 = rounds.medians.value }
        return [
            Figure(
                "append", "64 callers, 2 events a command, version checks, claims, inline models",
                rounds.median.value, "events/s",
                limit: .init(
                    name: "pgbench: one-row commits, 32 clients", value: rounds.median.limit),
                bar: .ratioAtLeast(1))
        ]
    }

    static func caller(_ workshop: Workshop) async throws -> [Figure] {
        let store = try workshop.bed.makeStore()
        defer { store.close() }
        var load = AppendLoad(log: store.log, realm: store.realm)
        load.callers = 1
        load.eventsPerCommand = 1
        let bare = BareCommit(address: workshop.bed.bare.superuser)
        let pgbench = PgBench(database: workshop.bed.bare)
        let count = workshop.size(short: 5, full: 21)
        workshop.progress.begin("caller", rounds: count)
        _ = try await load.run(seconds: 0.5)
        var averages: [Double] = []
        let rounds = try await Rounds.run(count, workshop.progress) {
            try await load.run(seconds: 1).latencies.median
        } limit: {
            averages.append(try pgbench.inserts(clients: 1, seconds: 1).milliseconds)
            return try bare.run(seconds: 1).median
        }
        return [
            Figure(
                "caller", "one caller, one event a command: median of its answers",
                rounds.median.value, "ms",
                limit: .init(
                    name: "one-row commit, same libpq wrapper", value: rounds.median.limit),
                bar: .ratioAtMost(1.5),
                note: "pgbench with one client takes \(spoken(averages.median)) ms on average.")
        ]
    }

    static func longLog(_ workshop: Workshop) async throws -> [Figure] {
        let size = workshop.size(short: 500_000, full: 5_000_000)
        let short = try workshop.bed.makeStore()
        defer { short.close() }
        let long = try await workshop.bed.makeStore(events: size, workshop.progress)
        defer { long.close() }
        let onShort = AppendLoad(log: short.log, realm: short.realm)
        let onLong = AppendLoad(log: long.log, realm: long.realm)
        let slice = workshop.size(short: 4, full: 15)
        let count = 5
        workshop.progress.begin("long-log", rounds: count)
        _ = try await onShort.run(seconds: 1)
        _ = try await onLong.run(seconds: 1)
        let rounds = try await Rounds.run(count, workshop.progress) {
            try await onLong.run(seconds: Double(slice)).rate
        } limit: {
            try await onShort.run(seconds: Double(slice)).rate
        }
        return [
            Figure(
                "long-log", "the same append behind \(spoken(Double(size))) events",
                rounds.median.value, "events/s",
                limit: .init(name: "the same on an empty log", value: rounds.median.limit),
                bar: .ratioAtLeast(0.8))
        ]
    }
}

/// One-row commits, one after the other, on a connection of ours.
struct BareCommit: Sendable {
    let address: String

    /// Milliseconds of each.
    func run(seconds: Double) throws -> [Double] {
        let connection = try Connection(address)
        let insert = Statement("bare", "insert into bare (payload) values ($1)")
        var parameters = Parameters()
        parameters.add(bytes: [UInt8](repeating: 0x5A, count: 32))
        try connection.execute(insert, parameters)
        var times: [Double] = []
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            let begun = ContinuousClock.now
            guard begun < deadline else { return times }
            try connection.execute(insert, parameters)
            times.append((ContinuousClock.now - begun) / .milliseconds(1))
        }
    }
}
