import EventSourcing
import Glibc
import Postgres
import Synchronization

/// Look-ups of one kind that come at the same time become one query.
///
/// Whoever comes while one is asked waits for the next, which begins after he came: nobody is told
/// anything older than his question. There is no timer: one that comes alone is asked at once. All of
/// it happens on the thread of the connection, so that a query costs the callers one waking for all.
final class Coalescing<Key: Hashable & Sendable, Value: Sendable, Source>: Sendable {
    typealias Found = [Key: Result<Value, ReadFailure>]
    typealias Ask = @Sendable (Source, RealmID, [Key]) -> Result<Found, ReadFailure>
    /// Gives what can be asked, on a thread that may block.
    typealias Lend =
        @Sendable (@escaping @Sendable (Result<Source, ReadFailure>) -> Void) -> Void
    private typealias Waiting = (
        key: Key, answer: UnsafeContinuation<Result<Value?, ReadFailure>, Never>
    )

    private struct Line {
        var waiting: [Waiting] = []
        var isAsked = false
    }

    private let lines = Mutex<[RealmID: Line]>([:])
    private let lend: Lend
    private let ask: Ask
    private let most: Int

    init(most: Int = 256, from lend: @escaping Lend, ask: @escaping Ask) {
        self.most = most
        self.lend = lend
        self.ask = ask
    }

    func find(_ key: Key, in realm: RealmID) async throws(ReadFailure) -> Value? {
        let result = await withUnsafeContinuation { answer in
            let isFirst = lines.withLock { lines in
                var line = lines.removeValue(forKey: realm) ?? Line()
                line.waiting.append((key, answer))
                let isFirst = !line.isAsked
                line.isAsked = true
                lines[realm] = line
                return isFirst
            }
            if isFirst { lend { source in self.answerAll(realm, source) } }
        }
        return try result.get()
    }

    /// Those that wait for a query to begin.
    func waiting(in realm: RealmID) -> Int { lines.withLock { $0[realm]?.waiting.count ?? 0 } }

    private func answerAll(_ realm: RealmID, _ source: Result<Source, ReadFailure>) {
        // Where the processors are busy, those who are about to ask come first; where they are not, this
        // takes no time.
        sched_yield()
        while let batch = next(realm) {
            let found = source.flatMap { ask($0, realm, Array(Set(batch.map(\.key)))) }
            for (key, answer) in batch {
                switch found {
                case .failure(let failure): answer.resume(returning: .failure(failure))
                // What one look-up cannot read is no other's failure.
                case .success(let values):
                    answer.resume(returning: values[key]?.map { $0 } ?? .success(nil))
                }
            }
            sched_yield()
        }
    }

    private func next(_ realm: RealmID) -> [Waiting]? {
        lines.withLock { lines in
            guard var line = lines.removeValue(forKey: realm), !line.waiting.isEmpty else {
                return nil
            }
            let batch = Array(line.waiting.prefix(most))
            line.waiting.removeFirst(batch.count)
            lines[realm] = line
            return batch
        }
    }
}

extension Coalescing where Source == Connection {
    convenience init(_ database: Database, ask: @escaping Ask) {
        self.init(
            from: { use in
                let isAccepted = database.perform { connection in
                    use(connection.mapError { _ in .unavailable })
                }
                if !isAccepted { use(.failure(.busy)) }
            }, ask: ask)
    }
}
