internal import EventSourcing
internal import Synchronization

/// What a trial put off because it happens outside of the log, such as the end of a feed.
final class TrialEffects: Sendable {
    /// With the position at which the command's events begin.
    typealias Effect = @Sendable (Call<AdminContext>, Int64) async throws(Problem) -> Void

    private let effects = Mutex<[Effect]>([])

    var all: [Effect] { effects.withLock { $0 } }

    func add(_ effect: @escaping Effect) {
        effects.withLock { $0.append(effect) }
    }
}

extension Call<AdminContext> {
    /// Does what follows a command outside of the log: at once or, in a trial, when its decisions are appended.
    func afterwards(
        _ done: WriteReceipt, _ effect: @escaping TrialEffects.Effect
    ) async throws(Problem) {
        guard let trial = context.trialEffects else {
            return try await effect(self, done.positions.first)
        }
        trial.add(effect)
    }
}
