public import Postgres
internal import Synchronization
public import Telemetry
public import Values

/// The database's clock as this process knows it: all nodes share it, regardless of the clocks of
/// their machines. It is read on every new connection and again and again; in between a monotonic
/// clock goes on.
public final class DatabaseClock: Sendable {
    /// In microseconds since 1970.
    public static let question = "(extract(epoch from clock_timestamp()) * 1000000)::bigint::text"

    private let machine: @Sendable () -> Timestamp
    private let elapsed: @Sendable () -> Int64
    private let scale = Mutex(TimeScale())
    /// How far this clock is ahead of the database's, in microseconds: none but a test's server moves it.
    private let ahead = Atomic<Int64>(0)

    /// - Parameters:
    ///   - machine: the clock of this machine, which is compared, and shown until the first reading.
    ///   - elapsed: microseconds that only go on.
    public init(
        machine: @escaping @Sendable () -> Timestamp = Log.systemTime,
        elapsed: @escaping @Sendable () -> Int64 = microsecondsSinceStart()
    ) {
        self.machine = machine
        self.elapsed = elapsed
    }

    public func now() -> Timestamp {
        guard let time = scale.withLock({ $0.time(at: elapsed()) }) else { return machine() }
        return Timestamp(microseconds: time + ahead.load(ordering: .relaxed))
    }

    /// Lets microseconds pass at once, from now on.
    public func pass(_ microseconds: Int64) {
        precondition(microseconds >= 0, "Time goes on, and never back")
        ahead.wrappingAdd(microseconds, ordering: .relaxed)
    }

    /// How far this machine's clock is ahead of the database's, in microseconds; below zero where it is
    /// behind. Nil before the first reading.
    public var difference: Int64? {
        scale.withLock { $0.time(at: elapsed()) }.map {
            machine().microseconds(since: Timestamp(microseconds: $0))
        }
    }

    /// How wrong that may be, in microseconds.
    public var error: Int64? { scale.withLock { $0.error(at: elapsed()) } }

    /// Reads the clock a few times, because the quickest answer has the smallest error.
    public func read(_ connection: Connection) throws(Failure) {
        var best: TimeScale.Reading?
        for _ in 0..<3 {
            let asked = elapsed()
            let rows = try connection.run("select " + Self.question)
            let answered = elapsed()
            guard let there = Int64(rows.text(0, 0)) else { continue }
            let error = (answered - asked + 1) / 2
            if let known = best, known.error <= error { continue }
            best = TimeScale.Reading(there: there, here: asked + error, error: error)
        }
        if let best { scale.withLock { $0.take(best) } }
    }
}

/// A monotonic clock.
public func microsecondsSinceStart() -> @Sendable () -> Int64 {
    let start = ContinuousClock.now
    return {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
