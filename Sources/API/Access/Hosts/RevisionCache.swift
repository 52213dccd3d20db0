internal import EventSourcing
internal import Synchronization

/// Keeps what was read, as long as the revision that it was read at is the one that holds.
///
/// A reading counts for the revision from before it began: what changes meanwhile makes it old at
/// once, and never wrong. For each key one reading runs at a time, and all who came too late for
/// it share the next: a revision that moves with every commit doesn't cost a reading for each.
final class RevisionCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Revision = @Sendable () -> Int64
    typealias Reading = @Sendable () async throws(LogFailure) -> Value
    private typealias Running = Task<Result<Value, LogFailure>, Never>

    private struct Entry: Sendable {
        var value: (revision: Int64, value: Value)?
        var running: (revision: Int64, task: Running)?
        /// Has not begun: it counts for the revision at its start.
        var next: Running?
    }

    private enum Step {
        case done(Value)
        case wait(Running)
    }

    private let entries: Mutex<LeastRecent<Key, Entry>>

    init(capacity: Int) {
        entries = Mutex(LeastRecent(capacity: capacity))
    }

    var count: Int { entries.withLock { $0.count } }

    /// What was read at this revision, where that has been done: nearly always, and for little.
    func known(_ key: Key, at revision: Int64) -> Value? {
        entries.withLock { entries in
            entries.part(of: key) { entry in
                entry.value?.revision == revision ? entry.value?.value : nil
            }
        }
    }

    func value(
        of key: Key, at revision: @escaping Revision, read: @escaping Reading
    ) async throws(LogFailure) -> Value {
        let step: Step = entries.withLock { entries in
            var entry = entries.value(of: key) ?? Entry()
            let now = revision()
            if let known = entry.value, known.revision == now { return .done(known.value) }
            if let running = entry.running, running.revision == now { return .wait(running.task) }
            if let next = entry.next { return .wait(next) }
            let task: Running
            if let running = entry.running {
                task = Task {
                    _ = await running.task.value
                    return await self.run(self.begin(key, revision), key, read)
                }
                entry.next = task
            } else {
                task = Task { await self.run(now, key, read) }
                entry.running = (now, task)
            }
            entries.set(entry, for: key)
            return .wait(task)
        }
        switch step {
        case .done(let value): return value
        case .wait(let task): return try await task.value.get()
        }
    }

    /// The reading that was the next one is the one that runs.
    private func begin(_ key: Key, _ revision: Revision) -> Int64 {
        entries.withLock { entries in
            let now = revision()
            // The cache may have dropped it; then it serves only those that wait for it.
            guard var entry = entries.value(of: key), let task = entry.next else { return now }
            entry.running = (now, task)
            entry.next = nil
            entries.set(entry, for: key)
            return now
        }
    }

    private func run(
        _ revision: Int64, _ key: Key, _ read: Reading
    ) async -> Result<Value, LogFailure> {
        let result: Result<Value, LogFailure>
        do throws(LogFailure) {
            result = .success(try await read())
        } catch {
            result = .failure(error)
        }
        entries.withLock { entries in
            guard var entry = entries.value(of: key), entry.running?.revision == revision else {
                return
            }
            entry.running = nil
            // A failure reaches only those who were waiting, and is not cached.
            switch result {
            case .success(let value): entry.value = (revision, value)
            case .failure: entry.value = nil
            }
            entries.set(entry, for: key)
        }
        return result
    }
}
