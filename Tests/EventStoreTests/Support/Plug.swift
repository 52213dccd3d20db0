import EventSourcing
import EventStore
import Foundation
import Postgres
import PostgresTesting

/// Keeps the only lane of a log busy, so that whatever is sent meanwhile gathers behind it.
struct Plug {
    private let holder: Session
    private let watcher: Session
    private let log: PostgresLog
    private let realm = newRealm()
    private var stopped: Int32?
    private var plugged: Task<Result<AppendOutcome, LogFailure>, Never>?

    init(_ store: TestStore) async throws {
        holder = try await Session(store.database.superuser)
        // Inside of a transaction the server's activity looks the same all the time.
        watcher = try await Session(store.database.superuser)
        log = store.log
        _ = try await log.append(commit(to: newID(), in: realm))
    }

    /// The lane waits for a lock, and its server process is stopped in its tracks, so that no
    /// timeout ends the wait.
    mutating func insert() async throws {
        try await holder.holdHead(of: realm)
        let (log, realm) = (log, realm)
        plugged = Task { await ending(log, commit(to: newID(), in: realm)) }
        var waiting: [Int32] = []
        try await eventually("the lane waits") {
            waiting = try await watcher.waitingCommitters()
            return waiting.count == 1
        }
        kill(waiting[0], SIGSTOP)
        stopped = waiting[0]
        try await holder.run("commit")
    }

    func waitUntilQueued(_ count: Int) async throws {
        do {
            try await eventually("\(count) commands wait") { log.waiting == count }
        } catch {
            // Or those that do wait would wait for ever.
            if let stopped { kill(stopped, SIGCONT) }
            throw error
        }
    }

    /// What becomes of the plug's own command is of no interest: its time may be over by now.
    mutating func pull() async throws {
        if let stopped { kill(stopped, SIGCONT) }
        _ = await plugged?.value
    }
}
