import Synchronization
import Values

/// Lets commands that met before go one after the other. A hot stream has one winner at a time
/// anyway; those who lost would only keep each other from winning.
final class Turnstile: Sendable {
    private struct Key: Hashable {
        let realm: RealmID
        let stream: UUID
    }

    /// Who waits, by stream. A stream that is here has somebody inside.
    private let queues = Mutex<[Key: [CheckedContinuation<Void, Never>]]>([:])

    func pass<Value>(
        _ stream: UUID, in realm: RealmID, _ body: () async throws -> Value
    ) async rethrows -> Value {
        let key = Key(realm: realm, stream: stream)
        await enter(key)
        defer { leave(key) }
        return try await body()
    }

    /// Whether somebody is on his way through: then it is better to stand behind him.
    func isTaken(_ stream: UUID, in realm: RealmID) -> Bool {
        queues.withLock { $0[Key(realm: realm, stream: stream)] != nil }
    }

    private func enter(_ key: Key) async {
        await withCheckedContinuation { continuation in
            let isFree = queues.withLock { queues in
                guard queues[key] != nil else {
                    queues[key] = []
                    return true
                }
                queues[key]?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave(_ key: Key) {
        let next = queues.withLock { queues -> CheckedContinuation<Void, Never>? in
            guard var waiting = queues[key], !waiting.isEmpty else {
                queues[key] = nil
                return nil
            }
            let next = waiting.removeFirst()
            queues[key] = waiting
            return next
        }
        next?.resume()
    }
}
