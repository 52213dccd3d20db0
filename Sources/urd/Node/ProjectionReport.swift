import EventStore
import JSON
import Postgres
import ReadModels
import Synchronization
import Values

/// Draws how far the building of a projection is, and says what it waits for.
final class ProjectionReport: Sendable {
    private struct LastReport {
        var words: String
        var at: ContinuousClock.Instant
    }

    /// Interval between two messages about a projection that still waits.
    private static var interval: Duration { .seconds(60) }

    private let name: String
    private let console: Console
    private let progress: Progress
    private let told = Mutex<LastReport?>(nil)

    init(_ name: String, _ console: Console) {
        self.name = name
        self.console = console
        progress = Progress("build \(name)", unit: "events", on: console)
    }

    func show(_ step: ProjectionProgress) {
        switch step {
        case .filling(let done, let total): progress.advance(to: done, of: total)
        case .finishing, .catchingUp, .comparing: break
        case .switching: progress.finish()
        case .waiting(let holders): tell(Self.words(name, holders), at: .now)
        }
    }

    private func tell(_ words: String, at now: ContinuousClock.Instant) {
        let isNews = told.withLock { told in
            if let told, told.words == words, told.at.duration(to: now) < Self.interval {
                return false
            }
            told = LastReport(words: words, at: now)
            return true
        }
        if isNews { console.complain(words) }
    }

    /// Nothing where the lock was let go meanwhile.
    static func words(_ name: String, _ holders: [LockHolder]) -> String {
        guard !holders.isEmpty else {
            return
                "\(name) is built and waits for a lock on its views; it is tried again and again."
        }
        let who = holders.map { holder in
            guard holder.process > 0 else { return "a prepared transaction (pg_prepared_xacts)" }
            let application = holder.application.isEmpty ? "" : ", \(holder.application)"
            return "process \(holder.process) (\(holder.user)\(application))"
        }
        let processes = holders.filter { $0.process > 0 }.map { String($0.process) }
        let remedy =
            processes.isEmpty
            ? ""
            : " To end what it waits for: "
                + processes.map { "select pg_terminate_backend(\($0))" }.joined(separator: "; ")
                + " as a superuser."
        return "\(name) is built and waits for open transactions that read it: "
            + who.joined(separator: ", ")
            + ". It is switched when that ends, and kept up to the log meanwhile; no other request is held up."
            + remedy
    }
}
