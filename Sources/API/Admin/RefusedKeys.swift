internal import Cryptography
internal import EventSourcing
internal import Identity
internal import Synchronization
internal import Values

/// A cache of the streams whose hourly limit of refusals is reached: a caller that keeps trying admin keys
/// causes no query of the log for each try.
final class RefusedKeys: Sendable {
    private struct Full {
        var hour: Int64 = 0
        var streams: Set<UUID> = []
    }

    private let full = Mutex(Full())

    /// Puts a refusal on record, unless there are enough.
    func record(
        _ command: RecordRefusedKey, by origin: Origin, _ commands: any CommandPort
    ) async throws(Problem) {
        let hour = command.now.seconds / 3600
        let isFull = full.withLock { full in
            if full.hour != hour { full = Full(hour: hour) }
            return full.streams.contains(command.stream)
        }
        if isFull { return }
        var random = SystemRandom()
        let result = try await commands.attempt(
            command, in: .system, id: .v7(at: command.now, using: &random), by: origin)
        guard case .failure(.enough) = result else { return }
        full.withLock { full in
            if full.hour == hour { full.streams.insert(command.stream) }
        }
    }
}
