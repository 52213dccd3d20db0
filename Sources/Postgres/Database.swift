internal import Threads

/// A few connections, each with a thread of its own, behind one bounded queue.
///
/// Work is a synchronous closure over one connection: a transaction can't be left half-way by a
/// suspended task, and the cooperative pool is never blocked.
public final class Database: Sendable {
    /// Why work was not done, beside what PostgreSQL itself says.
    public struct Busy: Error, Sendable {}

    /// Hears how long work waited for a connection.
    public typealias WaitObserver = @Sendable (Duration) -> Void

    /// Looks at each new connection before its first work.
    public typealias Inspection = @Sendable (Connection) throws(Failure) -> Void

    private struct Work: Sendable {
        let queued = ContinuousClock.now
        let body: @Sendable (Result<Connection, Failure>) -> Void
    }

    private struct Waiting: Sendable {
        var work: [Work] = []
        var next = 0
        var isClosed = false
        var isReachable = true
        var waited = 0

        var count: Int { work.count - next }

        mutating func takeAll() -> [Work] {
            var all: [Work] = []
            while let work = take() { all.append(work) }
            return all
        }

        mutating func take() -> Work? {
            guard next < work.count else { return nil }
            defer {
                next += 1
                if next == work.count {
                    work.removeAll(keepingCapacity: true)
                    next = 0
                }
            }
            return work[next]
        }
    }

    /// What a new connection does before its first work.
    public typealias Session = @Sendable (Connection) throws(Failure) -> Void

    public let address: String
    /// What all connections of this process have in common: none is to a server that was left behind.
    public let fence: PrimaryFence
    private let application: String
    private let limit: Int
    private let waiting = Monitor(Waiting())

    /// - Parameters:
    ///   - fence: shared by all that this process connects with.
    ///   - session: what every connection does before its first work.
    ///   - opened: called for each new connection.
    public init(
        _ address: String, connections: Int = 4, limit: Int = 1024, application: String = "urd",
        fence: PrimaryFence = PrimaryFence(),
        session: @escaping Session = { _ throws(Failure) in },
        opened: @escaping Inspection = { _ throws(Failure) in },
        waited: @escaping WaitObserver = { _ in }
    ) {
        self.address = address
        self.fence = fence
        self.application = application
        self.limit = limit
        for _ in 0..<max(1, connections) {
            DedicatedThread.startRequired { [waiting] in
                Self.serve(waiting, fence, waited: waited) { () throws(Failure) in
                    let connection = try fence.connect(address, application: application)
                    try session(connection)
                    try opened(connection)
                    return connection
                }
            }
        }
    }

    deinit {
        close()
    }

    /// Lets the threads end once their work is done.
    public func close() {
        waiting.withLock { $0.isClosed = true }
        waiting.wakeAll()
    }

    /// False while the last attempt to reach the server failed.
    public var isReachable: Bool { waiting.withLock { $0.isReachable } }

    public var queueLength: Int { waiting.withLock { $0.count } }

    /// Runs work on a connection of the pool. A lost connection is replaced before the next work.
    public func run<Value: Sendable>(
        _ body: @escaping @Sendable (Connection) throws(Failure) -> Value
    ) async throws -> Value {
        let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
            let isAccepted = perform { connection in
                switch connection {
                case .success(let connection):
                    do throws(Failure) {
                        let value = try body(connection)
                        try connection.refuseNulls()
                        continuation.resume(returning: .success(value))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                case .failure(let failure):
                    continuation.resume(returning: .failure(failure))
                }
            }
            if !isAccepted { continuation.resume(returning: .failure(Busy())) }
        }
        return try result.get()
    }

    /// The same for work that reports its own outcome, from the connection's own thread. False
    /// where the queue is full: then the work is not done.
    public func perform(
        _ work: @escaping @Sendable (Result<Connection, Failure>) -> Void
    ) -> Bool {
        let isAccepted = waiting.withLock { state -> Bool in
            guard !state.isClosed, state.count < limit else { return false }
            state.work.append(Work(body: work))
            return true
        }
        if isAccepted { waiting.wakeOne() }
        return isAccepted
    }

    /// The life of one thread: take work, have a live connection, do it.
    private static func serve(
        _ waiting: Monitor<Waiting>, _ fence: PrimaryFence, waited: @escaping WaitObserver,
        _ open: () throws(Failure) -> Connection
    ) {
        var kept: Connection?
        while let work = waiting.wait(for: { state -> Work?? in
            if let work = state.take() { return .some(work) }
            return state.isClosed ? .some(nil) : nil
        }) {
            waited(ContinuousClock.now - work.queued)
            // A server that went away while the connection was idle is noticed here, and not by the
            // work.
            if let old = kept, !old.isStillThere() || !fence.isCurrent(old) { kept = nil }
            let connection: Connection
            let started = ContinuousClock.now
            do throws(Failure) {
                connection = if let kept { kept } else { try open() }
            } catch {
                // Who waited through a slow attempt is not made to wait through the next.
                let isSlow = ContinuousClock.now - started > .seconds(1)
                let left = waiting.withLock { state in
                    state.isReachable = false
                    return isSlow ? state.takeAll() : []
                }
                for work in [work] + left { work.body(.failure(error)) }
                continue
            }
            kept = connection
            waiting.withLock { $0.isReachable = true }
            // What was read for other work was that work's affair.
            try? connection.refuseNulls()
            work.body(.success(connection))
        }
    }
}
