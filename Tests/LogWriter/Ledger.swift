import EventSourcing
import Glibc
import Values

/// What callers were told, a line each. A line that is written survives the death of the process.
final class Ledger: Sendable {
    private let descriptor: Int32

    init?(_ path: String) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard descriptor >= 0 else { return nil }
    }

    /// The command is in the log, at these positions.
    func kept(_ command: UUID, _ positions: Positions) {
        write("kept \(command) \(positions.first) \(positions.count)")
    }

    /// The command is not in the log.
    func lost(_ command: UUID) {
        write("lost \(command)")
    }

    /// The log told something that cannot be.
    func wrong(_ command: UUID, _ what: String) {
        write("wrong \(command) \(what)")
    }

    private func write(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }
}
