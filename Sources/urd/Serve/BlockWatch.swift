import EventStore
import JSON
import Postgres
import Synchronization
import Telemetry

extension WriteBlock {
    /// For operators.
    func words(for seconds: Int) -> String {
        let named = application.isEmpty ? role : "\(role), \(application)"
        let session =
            process == 0 ? "a prepared transaction" : "session \(process) (\(named))"
        return switch place {
        case .table(let name):
            "\(session) has locked urd.\(name) for \(seconds) s: no write gets through"
        case .log(let realm):
            "\(session) has locked the log of \(realm) for \(seconds) s: no write to it gets through"
        case .rows(let name):
            "\(session) has kept others waiting for \(seconds) s"
                + (name.map { ", in urd.\($0)" } ?? "")
        }
    }
}

/// Which sessions have kept writes out for longer than it takes to write. PostgreSQL does not show of every role how long:
/// then it is as long as the very same transaction has been seen to do so.
struct BlockMemory: Sendable {
    typealias Instant = ContinuousClock.Instant

    struct Standing: Sendable, Equatable {
        let block: WriteBlock
        let seconds: Double

        var words: String { block.words(for: Int(seconds)) }
        /// No realm's writes get through.
        var isOfAll: Bool { if case .table = block.place { true } else { false } }
    }

    static let patience = 10.0
    /// Who waits gives up after a while, and who comes next waits again: the session that is waited for is the same.
    static let pause = Duration.seconds(20)

    private struct Seen: Sendable {
        var block: WriteBlock
        let first: Instant
        var last: Instant
    }

    private var seen: [Seen] = []

    mutating func note(_ found: [WriteBlock], at now: Instant) {
        var left = seen.filter { one in
            guard case .rows = one.block.place else { return false }
            return now - one.last <= Self.pause
                && !found.contains { $0.isOfTransaction(one.block) }
        }
        for block in found {
            let known = seen.first { $0.block.isOfTransaction(block) }
            left.append(Seen(block: block, first: known?.first ?? now, last: now))
        }
        seen = left
    }

    /// Those who lock most first, and then those that have done so for longest.
    var standing: [Standing] {
        seen.map { one in
            Standing(
                block: one.block,
                seconds: max((one.last - one.first) / .seconds(1), one.block.age ?? 0))
        }
        .filter { $0.seconds >= Self.patience }
        .sorted {
            ($0.isOfAll ? 1 : 0, $0.seconds, $0.block.process)
                > ($1.isOfAll ? 1 : 0, $1.seconds, $1.block.process)
        }
    }
}

/// Looks for sessions that keep writes out, over the connection that renews the leases: all others may wait for
/// such a session.
final class BlockWatch: Sendable {
    /// Fractions of `BlockMemory.patience`, after which such a session is told of.
    private static let (rest, round) = (Duration.seconds(4), Duration.seconds(2))

    private let store: Store
    private let memory = Mutex(BlockMemory())

    init(_ store: Store) {
        self.store = store
    }

    var standing: [BlockMemory.Standing] { memory.withLock { $0.standing } }

    /// Watches blocked queries until the task is cancelled.
    func run() async throws {
        let gauge = store.metrics.gauge(
            "urd_writes_blocked_seconds",
            help: "How long the session has done so that has kept writes out for longest; 0: none.")
        var told: [String] = []
        while true {
            try Task.checkCancellation()
            let found = try? await store.leases.database.run {
                connection throws(Postgres.Failure) in
                try WriteBlock.read(connection)
            }
            if let found { memory.withLock { $0.note(found, at: .now) } }
            let standing = standing
            gauge.set(standing.map(\.seconds).max() ?? 0)
            tell(standing, &told)
            try await Task.sleep(for: found?.isEmpty == true ? Self.rest : Self.round)
        }
    }

    private func tell(_ standing: [BlockMemory.Standing], _ told: inout [String]) {
        let names = standing.map { "\($0.block.process) \($0.block.transaction)" }
        for (one, name) in zip(standing, names) where !told.contains(name) {
            store.lines.error(
                "writes.blocked",
                [
                    "process": .integer(Int64(one.block.process)), "role": .string(one.block.role),
                    "why": .string(one.words),
                ])
        }
        if names.isEmpty, !told.isEmpty { store.lines.notice("writes.go_on") }
        told = names
    }
}
