import EventSourcing
import Synchronization

/// Look-ups of one kind that come at the same time become one query.
///
/// Whoever comes while one is asked waits for the next, which begins after he came: nobody is told
/// anything older than his question. There is no timer: one that comes alone is asked at once.
final class Coalescing<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Found = [Key: Result<Value, ReadFailure>]
    typealias Ask = @Sendable (RealmID, [Key]) async throws(ReadFailure) -> Found
    private typealias Answer = CheckedContinuation<Result<Value?, ReadFailure>, Never>

    private struct Line {
        var waiting: [(key: Key, answer: Answer)] = []
        var running = 0
    }

    private let lines = Mutex<[RealmID: Line]>([:])
    private let ask: Ask
    /// So many queries of a realm at once, so that the next need not wait for the slowest.
    private let lanes: Int
    private let most: Int

    init(lanes: Int = 2, most: Int = 256, ask: @escaping Ask) {
        self.lanes = lanes
        self.most = most
        self.ask = ask
    }

    func find(_ key: Key, in realm: RealmID) async throws(ReadFailure) -> Value? {
        let result = await withCheckedContinuation { (answer: Answer) in
            let isFree = lines.withLock { lines in
                lines[realm, default: Line()].waiting.append((key, answer))
                guard lines[realm, default: Line()].running < lanes else { return false }
                lines[realm]?.running += 1
                return true
            }
            if isFree { Task { await run(realm) } }
        }
        return try result.get()
    }

    /// Those that wait for a query to begin.
    func waiting(in realm: RealmID) -> Int { lines.withLock { $0[realm]?.waiting.count ?? 0 } }

    private func run(_ realm: RealmID) async {
        while let batch = next(realm) {
            let found: Result<Found, ReadFailure>
            do throws(ReadFailure) {
                found = .success(try await ask(realm, Array(Set(batch.map(\.key)))))
            } catch {
                found = .failure(error)
            }
            for (key, answer) in batch {
                switch found {
                case .failure(let failure): answer.resume(returning: .failure(failure))
                // What one look-up cannot read is no other's failure.
                case .success(let values):
                    answer.resume(returning: values[key]?.map { $0 } ?? .success(nil))
                }
            }
        }
    }

    private func next(_ realm: RealmID) -> [(key: Key, answer: Answer)]? {
        lines.withLock { lines in
            guard var line = lines[realm] else { return nil }
            guard !line.waiting.isEmpty else {
                line.running -= 1
                lines[realm] = line.running == 0 ? nil : line
                return nil
            }
            let batch = Array(line.waiting.prefix(most))
            line.waiting.removeFirst(batch.count)
            lines[realm] = line
            return batch
        }
    }
}
