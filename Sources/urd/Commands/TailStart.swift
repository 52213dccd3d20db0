import EventSourcing
import EventStore
import Values

/// Where a reader of the log wants to begin: at a position, or behind a cursor.
enum TailStart {
    case position(Int64)
    case cursor(LogCursor)

    /// Nil without an option for the start.
    init?(_ arguments: Arguments) throws(UsageError) {
        guard let text = arguments.value("from"), text.contains(":") else {
            guard let position = try arguments.position("from") else { return nil }
            self = .position(position)
            return
        }
        guard let cursor = LogCursor(text) else {
            throw UsageError("--from must be a position or a cursor such as 3:48211, not '\(text)'")
        }
        self = .cursor(cursor)
    }

    /// The first position that is wanted.
    func position(in realm: RealmID, _ log: PostgresLog) async throws -> Int64 {
        switch self {
        case .position(let position): return position
        case .cursor(let cursor):
            let epochs = try await log.page(from: 1, limit: 1, in: realm).epochs
            switch epochs.standing(of: cursor) {
            case .valid: return cursor.position + 1
            case .beyondHead:
                throw CommandFailure(
                    "--from is beyond the head of the log, \(epochs.head.epoch):\(epochs.head.position)",
                    remedy: "Begin with --from \(epochs.head.position) or earlier.")
            case .lost(let kept):
                throw CommandFailure(
                    "the log went back to position \(kept): events that were read from it are lost",
                    remedy: "Undo what was made of later ones, and begin with "
                        + "--from \(kept == 0 ? "0:0" : "\(epochs.head.epoch):\(kept)").")
            }
        }
    }
}
