import EventSourcing
import ReadModels
import Synchronization
import Values

@testable import API

/// Kept cursors as the database keeps them, by a clock that a test moves.
final class MemoryFeedCursors: FeedCursors {
    private struct Row {
        var acknowledged: LogCursor
        var sent: Int64
        var acknowledgedAt: Timestamp?
        var reader: UUID?
        var leasedUntil = Timestamp(seconds: 0)
    }

    private struct State {
        var rows: [UUID: Row] = [:]
        var now = Timestamp(seconds: 1_800_000_000)
        var isDown = false
        /// Whose claim is not answered.
        var held: UUID?
    }

    private let log: WatchedLog
    private let state = Mutex(State())

    init(log: WatchedLog) { self.log = log }

    func pass(seconds: Int64) { state.withLock { $0.now = $0.now.adding(seconds: seconds) } }
    func hold(_ reader: UUID?) { state.withLock { $0.held = reader } }
    func set(isDown: Bool) { state.withLock { $0.isDown = isDown } }
    func reader(of subscription: UUID) -> UUID? {
        state.withLock { $0.rows[subscription]?.reader }
    }

    /// As if a reader on another node took it over.
    func take(_ subscription: UUID) {
        state.withLock { $0.rows[subscription]?.reader = .random() }
    }

    private func asking<Value>(
        _ ask: (inout State) -> Value
    ) throws(LogFailure) -> Value {
        let value: Value? = state.withLock { state in
            if state.isDown { return nil }
            return .some(ask(&state))
        }
        guard let value else { throw .unavailable }
        return value
    }

    private static func view(_ row: Row, _ now: Timestamp) -> FeedCursor {
        FeedCursor(
            acknowledged: row.acknowledged, sent: row.sent, acknowledgedAt: row.acknowledgedAt,
            leasedUntil: row.reader != nil && row.leasedUntil > now ? row.leasedUntil : nil)
    }

    func cursor(
        of subscription: UUID, in realm: RealmID
    ) async throws(LogFailure) -> FeedCursor? {
        try asking { state in
            state.rows[subscription].map { Self.view($0, state.now) }
        }
    }

    func claim(
        _ lease: FeedLeaseName, from start: LogCursor, takingOver: Bool
    ) async throws(LogFailure) -> FeedCursor.Claim {
        let claim: FeedCursor.Claim = try asking { state in
            var row =
                state.rows[lease.subscription] ?? Row(acknowledged: start, sent: start.position)
            if row.reader != nil, row.leasedUntil > state.now, !takingOver {
                return .held(until: row.leasedUntil)
            }
            row.reader = lease.reader
            row.leasedUntil = state.now.adding(seconds: 30)
            state.rows[lease.subscription] = row
            return .leased(Self.view(row, state.now))
        }
        while state.withLock({ $0.held == lease.reader }) { await Task.yield() }
        return claim
    }

    func permit(
        _ lease: FeedLeaseName, through cursor: LogCursor
    ) async throws(LogFailure) -> Bool {
        try asking { state in
            guard var row = state.rows[lease.subscription], row.reader == lease.reader else {
                return false
            }
            row.sent = max(row.sent, cursor.position)
            row.leasedUntil = state.now.adding(seconds: 30)
            state.rows[lease.subscription] = row
            return true
        }
    }

    func limit(_ subscription: UUID, sentTo position: Int64, in realm: RealmID) {
        state.withLock { state in
            guard let row = state.rows[subscription] else { return }
            state.rows[subscription]?.sent = max(
                row.acknowledged.position, min(row.sent, position))
        }
    }

    func acknowledge(
        _ cursor: LogCursor, of subscription: UUID, in realm: RealmID
    ) async throws(LogFailure) -> FeedCursor.Acknowledgement {
        try asking { state in
            guard var row = state.rows[subscription] else { return .missing }
            guard (row.acknowledged.position...row.sent).contains(cursor.position) else {
                return .outOfRange(Self.view(row, state.now))
            }
            row.acknowledged = cursor
            row.acknowledgedAt = state.now
            state.rows[subscription] = row
            return .taken
        }
    }

    func renew(_ leases: [FeedLeaseName]) async throws(LogFailure) -> Set<FeedLeaseName> {
        try asking { state in
            let kept = leases.filter { state.rows[$0.subscription]?.reader == $0.reader }
            for lease in kept {
                state.rows[lease.subscription]?.leasedUntil = state.now.adding(seconds: 30)
            }
            return Set(kept)
        }
    }

    func release(_ lease: FeedLeaseName) async throws(LogFailure) {
        try asking { state in
            guard state.rows[lease.subscription]?.reader == lease.reader else { return }
            state.rows[lease.subscription]?.reader = nil
        }
    }

    func forget(_ subscription: UUID, in realm: RealmID) async throws(LogFailure) {
        try asking { $0.rows[subscription] = nil }
    }

    func longestLag() async throws(LogFailure) -> Int64 { 0 }
}
