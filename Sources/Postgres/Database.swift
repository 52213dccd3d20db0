/// A few connections, each with a thread of its own, behind one bounded queue.
///
/// Work is a synchronous closure over one connection: a transaction can't be left half-way by a
/// suspended task, and the cooperative pool is never blocked.
public final class Database: Sendable {
    /// Why work was not done, beside what PostgreSQL itself says.
    public struct Busy: Error, Sendable {}

    private typealias Work = @Sendable (Result<Connection, Failure>) -> Void

    private struct Waiting: Sendable {
        var work: [Work] = []
        var next = 0
        var isClosed = false
        var isReachable = true
        var waited = 0

        var count: Int { work.count - next }

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

    public let address: String
    private let application: String
    private let limit: Int
    private let waiting = Monitor(Waiting())

    public init(_ address: String, connections: Int = 4, limit: Int = 1024, application: String = "urd") {
        self.address = address
        self.application = application
        self.limit = limit
        for _ in 0..<max(1, connections) {
            Thread.start { [waiting] in
                Self.serve(waiting, address: address, application: application)
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
        _ work: @escaping @Sendable (Connection) throws(Failure) -> Value
    ) async throws -> Value {
        let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
            let accepted = waiting.withLock { state -> Bool in
                guard !state.isClosed, state.count < limit else { return false }
                state.work.append { connection in
                    switch connection {
                    case .success(let connection):
                        do throws(Failure) {
                            continuation.resume(returning: .success(try work(connection)))
                        } catch {
                            continuation.resume(returning: .failure(error))
                        }
                    case .failure(let failure):
                        continuation.resume(returning: .failure(failure))
                    }
                }
                return true
            }
            if accepted {
                waiting.wakeOne()
            } else {
                continuation.resume(returning: .failure(Busy()))
            }
        }
        return try result.get()
    }

    /// The life of one thread: take work, have a live connection, do it.
    private static func serve(_ waiting: Monitor<Waiting>, address: String, application: String) {
        var connection: Connection?
        while let work = waiting.wait(for: { state -> Work?? in
            if let work = state.take() { return .some(work) }
            return state.isClosed ? .some(nil) : nil
        }) {
            if let usable = connection, !usable.isAlive { connection = nil }
            do throws(Failure) {
                if connection == nil {
                    connection = try Connection(address, application: application)
                }
                guard let usable = connection else { continue }
                connection = usable
                waiting.withLock { $0.isReachable = true }
                work(.success(usable))
            } catch {
                waiting.withLock { $0.isReachable = false }
                work(.failure(error))
            }
        }
    }
}
