import Postgres
import Synchronization
import Values

/// The leases of this process, over one session of its own: what waits for the other connections does not keep a
/// lease from being renewed. All that are asked for are read in one question, and renewed in one statement.
final class Leases: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// How long a node that is frozen or cut off keeps a lease (decision 0155).
    static let term = Duration.seconds(15)

    /// What is known of one lease.
    private struct Held: Sendable {
        var watch: LeaseWatch
        /// When its work asked for it last. A lease is not renewed for work that does not ask any more.
        var wanted: Instant
        var asked: Instant?
        /// Whether a question about it is under way.
        var isAsking = false

        func isWanted(at now: Instant) -> Bool { now - wanted < watch.term / 3 }
    }

    let node: UUID
    let database: Database
    private let leases = Mutex<[String: Held]>([:])

    init(at address: String, fence: PrimaryFence = PrimaryFence()) {
        var random = SystemRandomNumberGenerator()
        node = UUID(high: random.next(), low: random.next())
        database = Database(
            address, connections: 1, application: "urd leases", fence: fence,
            session: { connection throws(Postgres.Failure) in
                // A renewal that a crash takes away is made again: no need to wait for the disk.
                try connection.run("set statement_timeout = '5s'; set synchronous_commit = off")
            })
    }

    func isCertain(_ name: String) -> Bool {
        leases.withLock { $0[name]?.watch.isCertain(at: .now) ?? false }
    }

    /// Asks for a lease, and with it for all others whose turn it will be soon.
    func ask(for name: String, term: Duration) async {
        let asked = Instant.now
        let names = leases.withLock { leases -> [String] in
            leases[name, default: Held(watch: LeaseWatch(node: node, term: term), wanted: asked)]
                .wanted = asked
            guard let own = leases[name], !own.isAsking,
                own.asked.map({ asked - $0 >= term / 15 }) ?? true
            else { return [] }
            let names = leases.filter { !$1.isAsking && $1.isWanted(at: asked) }.map(\.key)
            for name in names {
                leases[name]?.asked = asked
                leases[name]?.isAsking = true
            }
            return names.sorted()
        }
        guard !names.isEmpty else { return }
        do {
            try await renew(names, asked: asked)
        } catch {
            leases.withLock { leases in
                for name in names { leases[name]?.watch.noteUnanswered() }
            }
        }
        leases.withLock { leases in
            for name in names { leases[name]?.isAsking = false }
        }
    }

    private func renew(_ names: [String], asked: Instant) async throws {
        let rows = try await LeaseRows.read(names, database)
        let now = Instant.now
        let steps = leases.withLock { leases in
            names.map { name in
                let row = rows[name] ?? LeaseWatch.Row(holder: nil, renewals: 0)
                return (name, row, leases[name]?.watch.step(row, asked: asked, now: now) ?? .leave)
            }
        }
        for isTaking in [false, true] {
            let due = steps.filter { $0.2 == (isTaking ? .take : .renew) }
                .map { (name: $0.0, renewals: $0.1.renewals) }
            guard !due.isEmpty else { continue }
            let sent = Instant.now
            let written = try await LeaseRows.write(due, node, isTaking: isTaking, database)
            leases.withLock { leases in
                for name in written { leases[name]?.watch.noteWritten(asked: sent) }
            }
        }
    }

    /// Releases all leases once their work has ended. Without it another node takes them over a moment later.
    func release() async {
        guard database.isReachable else { return }
        try? await LeaseRows.release(node, database)
    }
}
