import EventSourcing
import EventStore
import Postgres
import PostgresTesting
import ReadModels
import Synchronization
import Threads

/// What followers of one realm cost, and how soon they have what was committed. All are in this process:
/// what sockets add is not in these figures.
enum FeedFigures {
    /// From a command's answer to its events at all followers, for few and for many.
    static func live(_ workshop: Workshop) async throws -> [Figure] {
        let store = try workshop.bed.makeStore()
        defer { store.close() }
        var load = AppendLoad(log: store.log, realm: store.realm)
        load.callers = 4
        load.pace = .milliseconds(20)
        let slice = Double(workshop.size(short: 2, full: 10))
        var figures: [Figure] = []
        for (count, bar) in [(1, 5.0), (100, 10), (1000, 50)] {
            workshop.progress.begin("feed-live", rounds: 3)
            var values: [Double] = []
            for _ in 0..<3 {
                values.append(try await delays(store, load, slice, count).percentile(0.99))
                workshop.progress.advance(spoken(values.median))
            }
            figures.append(
                Figure(
                    "feed-live-\(count)",
                    "from a command's answer to its events at \(count) followers of one ring: "
                        + "99 of 100 within", values.median, "ms", bar: .atMost(bar),
                    note: "Under 400 events/s."))
        }
        return figures
    }

    /// Milliseconds from each answer until the last follower had it.
    private static func delays(
        _ store: Store, _ load: AppendLoad, _ slice: Double, _ count: Int
    ) async throws -> [Double] {
        let rings = EventRings(store.log, hub: store.hub)
        let arrivals = Arrivals()
        let head = try await store.log.head(of: store.realm)
        let start = LogCursor(epoch: head.epoch, position: head.position)
        let following = (0..<count).map { _ in
            Task {
                try await follow(rings, store.realm, from: start) { position in
                    arrivals.note(position)
                }
            }
        }
        let result = try await load.run(seconds: slice)
        let last = result.answers.map(\.position).max() ?? 0
        let deadline = ContinuousClock.now + .seconds(20)
        while arrivals.count(of: last) < count, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(5))
        }
        for task in following { task.cancel() }
        let arrived = arrivals.all
        return try result.answers.map { answer in
            guard let all = arrived[answer.position], all.count == count else {
                throw BenchmarkFailure("Position \(answer.position) is not at all followers.")
            }
            return max(0, (all.at - answer.at) / .milliseconds(1))
        }
    }

    /// Appending while a thousand wait for what does not come.
    static func idle(_ workshop: Workshop) async throws -> [Figure] {
        let store = try workshop.bed.makeStore()
        defer { store.close() }
        let load = AppendLoad(log: store.log, realm: store.realm)
        let slice = Double(workshop.size(short: 2, full: 10))
        _ = try await load.run(seconds: slice)
        let count = workshop.size(short: 5, full: 9)
        workshop.progress.begin("feed-idle", rounds: count)
        let rounds = try await Rounds.run(count, workshop.progress) {
            let rings = EventRings(store.log, hub: store.hub)
            var filter = EventFilter()
            filter.types.names = ["mail.failed"]
            let waiting = filter
            let head = try await store.log.head(of: store.realm)
            let start = LogCursor(epoch: head.epoch, position: head.position)
            let tasks = (0..<1000).map { _ in
                Task {
                    try await follow(rings, store.realm, from: start, filter: waiting) { _ in }
                }
            }
            defer { for task in tasks { task.cancel() } }
            return try await load.run(seconds: slice).rate
        } limit: {
            try await load.run(seconds: slice).rate
        }
        return [
            Figure(
                "feed-idle", "the same append with 1,000 followers whose filters leave all out",
                rounds.median.value, "events/s",
                limit: .init(name: "without them", value: rounds.median.limit),
                bar: .ratioAtLeast(0.9))
        ]
    }

    /// A follower that begins at the start of a long log.
    static func catchUp(_ workshop: Workshop) async throws -> [Figure] {
        let size = workshop.size(short: 150_000, full: 1_000_000)
        let store = try await workshop.bed.makeStore(events: size, workshop.progress)
        defer { store.close() }
        let count = workshop.size(short: 3, full: 5)
        workshop.progress.begin("feed-catch-up", rounds: count)
        let rounds = try await Rounds.run(count, workshop.progress) {
            let rings = EventRings(store.log, hub: store.hub)
            let head = try await store.log.head(of: store.realm)
            let started = ContinuousClock.now
            let seen = Mutex<Int64>(0)
            let task = Task {
                try await follow(
                    rings, store.realm, from: LogCursor(epoch: head.epoch, position: 0),
                    until: head.position
                ) { position in seen.withLock { $0 += 1 } }
            }
            try await task.value
            guard seen.withLock({ $0 }) == Int64(size) else {
                throw BenchmarkFailure("The follower did not have all of them.")
            }
            return Double(size) / ((ContinuousClock.now - started) / .seconds(1))
        } limit: {
            try await DedicatedThread.run {
                try Double(size)
                    / seconds {
                        try Connection(store.database.application).copyOut(
                            """
                            copy (select position, at, command, data, meta, revision, sealed, stream,
                                subject, type, version, leaf, mac from urd.event
                                where realm = 'bench' order by position) to stdout (format binary)
                            """
                        ) { _ in }
                    }
            }
        }
        return [
            Figure(
                "feed-catch-up", "\(spoken(Double(size))) events to a follower from the start",
                rounds.medians.value, "events/s",
                limit: .init(name: "COPY of the same rows to nowhere", value: rounds.medians.limit),
                bar: .ratioAtLeast(0.15),
                note: "As values: what writing them as JSON takes is beside it.")
        ]
    }

    /// As a feed follows.
    private static func follow(
        _ rings: EventRings, _ realm: RealmID, from start: LogCursor, filter: EventFilter? = nil,
        until last: Int64 = .max, _ take: @Sendable (Int64) -> Void
    ) async throws {
        let following = rings.follow(realm, filter: filter)
        var cursor = start
        while !Task.isCancelled, cursor.position < last {
            let alarms = following.alarms
            switch following.look(after: &cursor, limit: 128) {
            case .events(let events, _):
                for recent in events {
                    cursor = recent.cursor
                    if filter?.wants(recent.event) ?? true { take(recent.event.position) }
                }
            case .nothing:
                let reached = await following.wait(past: cursor, since: alarms, until: .max)
                cursor = LogCursor(epoch: cursor.epoch, position: max(reached, cursor.position))
            case .behind:
                guard
                    case .events(let events, _)? = try await following.page(
                        after: &cursor, limit: 500)
                else { throw BenchmarkFailure("The log is not whole.") }
                for event in events {
                    cursor = LogCursor(epoch: cursor.epoch, position: event.position)
                    if filter?.wants(event) ?? true { take(event.position) }
                }
            case .lost, .failed: throw BenchmarkFailure("The log is not whole.")
            }
        }
    }
}

/// How many followers have had a position, and when the last of them did.
private final class Arrivals: Sendable {
    private let seen = Mutex<[Int64: (count: Int, at: ContinuousClock.Instant)]>([:])

    func note(_ position: Int64) {
        let now = ContinuousClock.now
        seen.withLock { seen in
            seen[position, default: (0, now)].count += 1
            seen[position]?.at = now
        }
    }

    func count(of position: Int64) -> Int { seen.withLock { $0[position]?.count ?? 0 } }

    var all: [Int64: (count: Int, at: ContinuousClock.Instant)] { seen.withLock { $0 } }
}
