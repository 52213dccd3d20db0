import EventSourcing
import EventStore
import Postgres
import PostgresTesting
import ReadModels
import Synchronization
import Threads

/// How soon a follower in the same process has what a caller was told of.
enum FollowFigure {
    static func measure(_ workshop: Workshop) async throws -> [Figure] {
        let store = try workshop.bed.makeStore()
        defer { store.close() }
        var load = AppendLoad(log: store.log, realm: store.realm)
        if workshop.fullLoad.withLock({ $0 }) == nil {
            _ = try await load.run(seconds: 1)
            let rate = try await load.run(seconds: 4).rate
            workshop.fullLoad.withLock { $0 = rate }
        }
        let half = max(1, (workshop.fullLoad.withLock { $0 } ?? 0) / 2)
        load.pace = .seconds(Double(load.callers * load.eventsPerCommand) / half)
        let count = 5
        let slice = Double(workshop.size(short: 2, full: 15))
        workshop.progress.begin("follow", rounds: count)
        var limits: [Double] = []
        var values: [Double] = []
        var reached: [Double] = []
        for _ in 0..<count {
            // The limit shares the very same seconds: it is a read beside the same load.
            async let reads = DedicatedThread.run { try PrimaryKeyRead(store).run(seconds: slice) }
            let (delays, rate) = try await delays(store, load, slice)
            values.append(delays.percentile(0.99))
            limits.append(try await reads.percentile(0.99))
            reached.append(rate)
            workshop.progress.advance("\(spoken(values.median)) beside \(spoken(limits.median))")
        }
        return [
            Figure(
                "follow", "from a command's answer to its events at a follower: 99 of 100 within",
                values.median, "ms",
                limit: .init(name: "p99 of reading one row beside it", value: limits.median),
                bar: .atMost(5),
                note: "Under \(spoken(reached.median)) events/s, half of a full load.")
        ]
    }

    /// Milliseconds for each command, and the load that there was.
    private static func delays(
        _ store: Store, _ load: AppendLoad, _ slice: Double
    ) async throws -> ([Double], Double) {
        let head = try await store.log.head(of: store.realm).position
        let arrivals = Mutex<[Int64: ContinuousClock.Instant]>([:])
        let following = Task {
            var cursor = LogFollower(
                store.log, hub: store.hub, realm: store.realm, from: head + 1
            ).makeAsyncIterator()
            while let event = try await cursor.next() {
                let at = ContinuousClock.now
                arrivals.withLock { $0[event.position] = at }
            }
        }
        let result = try await load.run(seconds: slice)
        guard let last = result.answers.map(\.position).max() else {
            throw BenchmarkFailure("Nothing was appended.")
        }
        let deadline = ContinuousClock.now + .seconds(10)
        while arrivals.withLock({ $0[last] }) == nil, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(5))
        }
        following.cancel()
        _ = try? await following.value
        let arrived = arrivals.withLock { $0 }
        let delays = try result.answers.map { answer in
            guard let arrival = arrived[answer.position] else {
                throw BenchmarkFailure("Position \(answer.position) never reached the follower.")
            }
            // It may well be there before the caller knows.
            return max(0, (arrival - answer.at) / .milliseconds(1))
        }
        return (delays, result.rate)
    }
}

/// Reads one row again and again on a connection of its own.
private struct PrimaryKeyRead {
    private let address: String
    private let realm: String

    init(_ store: Store) {
        address = store.database.application
        realm = store.realm.name
    }

    /// Milliseconds of each.
    func run(seconds: Double) throws -> [Double] {
        let connection = try Connection(address)
        let read = Statement("read", "select position from urd.realm_log where realm = $1")
        var parameters = Parameters()
        parameters.add(realm)
        var times: [Double] = []
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            let begun = ContinuousClock.now
            guard begun < deadline else { return times }
            try connection.execute(read, parameters)
            times.append((ContinuousClock.now - begun) / .milliseconds(1))
            // A follower reads now and then; without a pause this would be a load of its own.
            DedicatedThread.sleep(milliseconds: 2)
        }
    }
}
