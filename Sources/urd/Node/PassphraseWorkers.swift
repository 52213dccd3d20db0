import API
import Cryptography
import ForeignHashes
import JSON
import Synchronization
import Telemetry
import Threads

/// Works on passphrases, each on a thread of its own and only a few at once, in fair turns: who comes while
/// many wait, or has many waiting, is turned away.
final class PassphraseWorkers: Sendable {
    struct Busy: Error {}

    private struct State {
        var turns: FairTurns
        var names = 0
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    }

    private let state: Mutex<State>
    private let depth: Gauge

    /// - Parameter depth: shows how many wait.
    init(_ limits: FairTurns.Limits = FairTurns.Limits(), depth: Gauge = Gauge()) {
        self.depth = depth
        state = Mutex(State(turns: FairTurns(limits)))
    }

    var running: Int { state.withLock { $0.turns.runningCount } }
    var waiting: Int { state.withLock { $0.turns.waitingCount } }

    func run<Value: Sendable>(
        for turn: PassphraseTurn, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let name = state.withLock { state in
            state.names += 1
            return state.names
        }
        try await enter(name, turn)
        defer { leave(name) }
        // A request that was told that it waited too long gets no answer; its turn goes to the next
        // one.
        try Task.checkCancellation()
        return try await DedicatedThread.run(body)
    }

    private func enter(_ name: Int, _ turn: PassphraseTurn) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (entry, displaced) = state.withLock { state in
                    let entry = state.turns.enter(name, turn)
                    guard case .waits(let other) = entry else {
                        return (entry, nil as CheckedContinuation<Void, any Error>?)
                    }
                    state.waiting[name] = continuation
                    return (entry, other.flatMap { state.waiting.removeValue(forKey: $0) })
                }
                depth.set(waiting)
                displaced?.resume(throwing: Busy())
                switch entry {
                case .begins: continuation.resume()
                case .refused: continuation.resume(throwing: Busy())
                case .waits: break
                }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.turns.giveUp(name) ? state.waiting.removeValue(forKey: name) : nil
            }
            waiting?.resume(throwing: CancellationError())
        }
    }

    private func leave(_ name: Int) {
        let next = state.withLock { state in
            state.turns.leave(name).flatMap { state.waiting.removeValue(forKey: $0) }
        }
        depth.set(waiting)
        next?.resume()
    }
}

extension PassphraseWork {
    /// `list`: the file of passphrases that others lost, if there is one.
    static func onThreads(list: String?, lines: Log, depth: Gauge = Gauge()) -> PassphraseWork {
        let workers = PassphraseWorkers(depth: depth)
        let breached = list.map { BreachedList(path: $0) }
        let cost = PassphraseCost()
        cost.measure(lines)
        var work = PassphraseWork(
            hash: { secret, turn in
                try await workers.run(for: turn) { try Scrypt.hash(secret, parameters: cost.own) }
            },
            verify: { secret, text, turn in
                try await workers.run(for: turn) { try cost.verify(secret, against: text) }
            },
            isKnown: { secret, turn in
                guard let breached else { return false }
                do {
                    return try await workers.run(for: turn) { try breached.contains(secret) }
                } catch let failure as SystemFailure {
                    lines.error(
                        "passphrases.list_unreadable", ["reason": .string(failure.description)])
                    throw failure
                }
            })
        work.verifyForeign = { secret, text, turn in
            try await workers.run(for: turn) { try cost.verifyForeign(secret, against: text) }
        }
        work.derive = { secret, salt, rounds, turn in
            try await workers.run(for: turn) {
                try DevicePassphrase.hash(secret, salt: salt, rounds: rounds)
            }
        }
        return work
    }
}

extension PassphraseCost {
    /// Takes the same time with and without a text, and for a hash of any cost.
    fileprivate func verify(_ secret: SecretBytes, against text: String?) throws -> Bool {
        let salt = [UInt8](repeating: 0, count: 16)
        guard let text else {
            _ = try Scrypt.derive(secret, salt: salt, parameters: forNobody(), length: 32)
            return false
        }
        let isRight = try Scrypt.verify(secret, against: text)
        if let rest = rest(after: text) {
            _ = try Scrypt.derive(secret, salt: salt, parameters: rest, length: 32)
        }
        return isRight
    }

    /// A right passphrase is hashed anew, which takes longer anyway.
    fileprivate func verifyForeign(_ secret: SecretBytes, against text: String) throws -> Bool {
        let start = ContinuousClock.now
        if try ForeignHash(text).verify(secret) { return true }
        if let rest = rest(afterWorking: .now - start) {
            let salt = [UInt8](repeating: 0, count: 16)
            _ = try Scrypt.derive(secret, salt: salt, parameters: rest, length: 32)
        }
        return false
    }
}
