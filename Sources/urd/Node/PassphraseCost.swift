import Cryptography
import JSON
import Synchronization
import Telemetry
import Threads

/// How much work a passphrase is made on this machine: as many lanes of scrypt as fit a quarter of a second,
/// measured once, and never fewer than the setting of OWASP that has the most memory here.
final class PassphraseCost: Sendable {
    private struct State {
        var own = Scrypt.Parameters.recommended
        /// The dearest text that was met, maybe made by a faster node.
        var dearest = Scrypt.Parameters.recommended
        /// What one lane takes on this machine.
        var lane = PassphraseCost.patience / Scrypt.Parameters.recommended.parallelization
    }

    static let patience = Duration.milliseconds(250)

    private let state = Mutex(State())

    /// The scrypt parameters of new hashes.
    var own: Scrypt.Parameters { state.withLock { $0.own } }

    /// Measures on a thread of its own; until that is done the least is good enough.
    func measure(_ lines: Log) {
        try? DedicatedThread.start {
            let secret = SecretBytes(Array("how long does it take".utf8))
            let start = ContinuousClock.now
            let done = try? Scrypt.derive(
                secret, salt: Array(repeating: 0, count: 16), parameters: .lane, length: 32)
            guard done != nil else { return }
            let lane = ContinuousClock.now - start
            self.settle(on: Scrypt.Parameters.fitting(Self.patience, lane: lane), lane: lane)
            lines.info("passphrases.cost", ["lanes": .integer(Int64(self.own.parallelization))])
        }
    }

    func settle(on parameters: Scrypt.Parameters, lane: Duration? = nil) {
        state.withLock { state in
            if let lane { state.lane = lane }
            state.own = parameters
            if parameters.work > state.dearest.work { state.dearest = parameters }
        }
    }

    /// The work where no passphrase is stored: as much as for the dearest hash, against account
    /// enumeration.
    func forNobody() -> Scrypt.Parameters { state.withLock { $0.dearest } }

    /// The scrypt work that is missing after a hash was compared, so that the duration tells nothing of the hash.
    func rest(after text: String) -> Scrypt.Parameters? {
        guard let spent = Scrypt.parameters(of: text) else { return nil }
        let dearest = state.withLock { state in
            if spent.work > state.dearest.work, spent.work <= Scrypt.Parameters.dearest.work {
                state.dearest = spent
            }
            return state.dearest
        }
        return dearest.rest(after: spent)
    }

    /// The same after a hash of another kind, which took this long: as many lanes as it took the time of.
    func rest(afterWorking time: Duration) -> Scrypt.Parameters? {
        state.withLock { state in
            let spent = Scrypt.Parameters.fitting(time, lane: state.lane)
            if spent.work > state.dearest.work { state.dearest = spent }
            let missing = state.lane * state.dearest.parallelization - time
            return missing < state.lane / 2
                ? nil : .lanes(missing, lane: state.lane)
        }
    }
}
