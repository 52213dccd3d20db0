internal import EventSourcing
internal import Synchronization

/// Keeps what was read, as long as the revision that it was read at is the one that holds.
///
/// Many who ask for the same thing wait for one reading of it. A reading counts for the revision
/// from before it began: what changes meanwhile makes it old at once, and never wrong.
final class RevisionCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Reading = @Sendable () async throws(LogFailure) -> Value

    private enum Content: Sendable {
        case reading(Task<Result<Value, LogFailure>, Never>)
        case value(Value)
    }

    private struct Entry: Sendable {
        let revision: Int64
        let content: Content
    }

    private enum Step {
        case done(Value)
        case wait(Task<Result<Value, LogFailure>, Never>)
    }

    private let entries: Mutex<LeastRecent<Key, Entry?>>

    init(capacity: Int) {
        entries = Mutex(LeastRecent(capacity: capacity))
    }

    var count: Int { entries.withLock { $0.count } }

    func value(
        of key: Key, at revision: Int64, read: @escaping Reading
    ) async throws(LogFailure) -> Value {
        let step: Step = entries.withLock { entries in
            if let entry = entries.value(of: key) ?? nil, entry.revision == revision {
                switch entry.content {
                case .value(let value): return .done(value)
                case .reading(let task): return .wait(task)
                }
            }
            let task = Task { await self.finish(key, revision, read) }
            entries.set(Entry(revision: revision, content: .reading(task)), for: key)
            return .wait(task)
        }
        switch step {
        case .done(let value): return value
        case .wait(let task): return try await task.value.get()
        }
    }

    private func finish(
        _ key: Key, _ revision: Int64, _ read: Reading
    ) async -> Result<Value, LogFailure> {
        let result: Result<Value, LogFailure>
        do throws(LogFailure) {
            result = .success(try await read())
        } catch {
            result = .failure(error)
        }
        entries.withLock { entries in
            // A newer reading may have begun since, or this one may have been forgotten.
            guard let entry = entries.value(of: key) ?? nil, entry.revision == revision else {
                return
            }
            // A failure is nobody's but those who were waiting.
            let kept = (try? result.get()).map {
                Entry(revision: revision, content: .value($0))
            }
            entries.set(kept, for: key)
        }
        return result
    }
}
