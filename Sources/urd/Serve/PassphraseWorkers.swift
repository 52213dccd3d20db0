import API
import Cryptography
import JSON
import Synchronization
import Telemetry

/// Works on passphrases, each on a thread of its own and only a few at once: who comes while many wait
/// is turned away.
final class PassphraseWorkers: Sendable {
    struct Busy: Error {}

    private struct State {
        var running = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let atOnce: Int
    private let mostWaiting: Int

    init(atOnce: Int = 2, mostWaiting: Int = 64) {
        self.atOnce = atOnce
        self.mostWaiting = mostWaiting
    }

    var running: Int { state.withLock { $0.running } }
    var waiting: Int { state.withLock { $0.waiting.count } }

    func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await enter()
        defer { leave() }
        // Whoever waited so long that he was told so gets no answer, and the next one gets the time.
        try Task.checkCancellation()
        return try await OwnThread.run(body)
    }

    private func enter() async throws {
        let isFull = state.withLock { $0.waiting.count >= mostWaiting }
        if isFull { throw Busy() }
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.running < atOnce else {
                    state.waiting.append(continuation)
                    return false
                }
                state.running += 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.running -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}

extension PassphraseWork {
    /// `list`: the file of passphrases that others lost, if there is one.
    static func onThreads(list: String?, lines: Log) -> PassphraseWork {
        let workers = PassphraseWorkers()
        let breached = list.map { BreachedList(path: $0) }
        var work = PassphraseWork(
            hash: { secret in try await workers.run { try Scrypt.hash(secret) } },
            verify: { secret, text in
                try await workers.run {
                    guard let text else {
                        // As long as a comparison takes.
                        _ = try Scrypt.derive(
                            secret, salt: Array(repeating: 0, count: 16),
                            parameters: .recommended, length: 32)
                        return false
                    }
                    return try Scrypt.verify(secret, against: text)
                }
            },
            isKnown: { secret in
                guard let breached else { return false }
                do {
                    return try await workers.run { try breached.contains(secret) }
                } catch let failure as SystemFailure {
                    lines.error(
                        "passphrases.list_unreadable", ["reason": .string(failure.description)])
                    throw failure
                }
            })
        work.derive = { secret, salt, rounds in
            try await workers.run { try DevicePassphrase.hash(secret, salt: salt, rounds: rounds) }
        }
        return work
    }
}
