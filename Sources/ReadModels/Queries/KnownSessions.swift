import EventSourcing
import EventStore
import Identity
import Postgres
import Synchronization
import Values

/// Sessions that were read once and to which nothing has happened since.
///
/// Before any of them is given out the log is asked, once for all who wait, how far it is and which
/// streams it has gone on with. A session hangs on its own stream, on its account's and on the realm's
/// configuration, its client being part of that; so what none of these touched is as the read models
/// have it now, and need not be read again.
final class KnownSessions: Sendable {
    fileprivate struct Kept {
        var epoch: Int32 = -1
        var position: Int64 = 0
        var configuration: Int64 = -1
        var entries: [UUID: SessionView] = [:]
        var ofAccount: [UUID: Set<UUID>] = [:]
    }

    private let realms = Mutex<[RealmID: Kept]>([:])
    private let hub: CommitHub
    private let proofs: StreamProofs
    private let capacity: Int

    init(_ hub: CommitHub, _ proofs: StreamProofs, capacity: Int = 50_000) {
        self.hub = hub
        self.proofs = proofs
        self.capacity = capacity
    }

    /// Sessions with those that they hang on. For one caller at a time in each realm.
    func find(
        _ ids: [UUID], in realm: RealmID, over connection: Connection
    ) -> Result<[UUID: Result<SessionLine, ReadFailure>], ReadFailure> {
        var kept = realms.withLock { $0.removeValue(forKey: realm) } ?? Kept()
        guard let moved = LogMoves.read(of: realm, after: kept.position, over: connection) else {
            return .failure(.unavailable)
        }
        proofs.note(moved)
        hub.publishConfiguration(
            Head(epoch: Int(moved.epoch), position: moved.configuration), of: realm)
        kept.follow(moved)
        var found: [UUID: Result<SessionView, ReadFailure>] = [:]
        var missing: [UUID] = []
        var wanted = ids
        while !wanted.isEmpty {
            var next: [UUID] = []
            for id in wanted where found[id] == nil {
                if let entry = kept.entries[id] {
                    found[id] = .success(entry)
                    next += entry.above
                } else {
                    missing.append(id)
                }
            }
            wanted = next.filter { found[$0] == nil }
            guard wanted.isEmpty, !missing.isEmpty else { continue }
            // Later than the question before: what happened in between is dropped next time, once too
            // often.
            switch SessionView.byID.rows(
                Parameters(in: realm, any: missing), over: connection,
                key: { $0.identifier($1, 1) })
            {
            case .failure(let failure): return .failure(failure)
            case .success(let read):
                for (id, entry) in read {
                    found[id] = entry
                    guard case .success(let entry) = entry else { continue }
                    kept.keep(entry, atMost: capacity)
                    wanted += entry.above.filter { found[$0] == nil }
                }
            }
            missing = []
        }
        realms.withLock { $0[realm] = kept }
        var lines: [UUID: Result<SessionLine, ReadFailure>] = [:]
        for id in ids {
            lines[id] = found[id]?.flatMap { SessionLine.from($0, in: found) }
        }
        return .success(lines)
    }
}

extension KnownSessions.Kept {
    fileprivate mutating func follow(_ moved: LogMoves) {
        if moved.epoch != epoch || moved.configuration != configuration || moved.position < position
        {
            forgetAll()
        } else if let streams = moved.streams {
            for stream in streams { forget(stream) }
        } else {
            forgetAll()
        }
        (epoch, position, configuration) = (moved.epoch, moved.position, moved.configuration)
    }

    private mutating func forgetAll() {
        entries = [:]
        ofAccount = [:]
    }

    /// A stream is a session, or an account, or has nothing to do with either.
    private mutating func forget(_ stream: UUID) {
        if let entry = entries.removeValue(forKey: stream), let account = entry.terms.account {
            ofAccount[account]?.remove(stream)
            if ofAccount[account]?.isEmpty == true { ofAccount[account] = nil }
        }
        for session in ofAccount.removeValue(forKey: stream) ?? [] { entries[session] = nil }
    }

    fileprivate mutating func keep(_ entry: SessionView, atMost capacity: Int) {
        // Who is asked for is soon there again.
        if entries.count >= capacity { forgetAll() }
        entries[entry.id] = entry
        if let account = entry.terms.account { ofAccount[account, default: []].insert(entry.id) }
    }
}

extension LogMoves {
    /// Nil without an answer of the database.
    fileprivate static func read(
        of realm: RealmID, after position: Int64, over connection: Connection
    ) -> LogMoves? {
        let moment = ContinuousClock.now
        var parameters = Parameters(realm: realm.name)
        parameters.add(position)
        guard let rows = try? connection.execute(asking, parameters) else { return nil }
        guard rows.count > 0 else {
            // Nothing ever happened there.
            return LogMoves(
                realm: realm, epoch: 0, from: position, to: 0, configuration: 0, erasures: 0,
                streams: [], at: moment)
        }
        let head = rows.int64(0, 1)
        let isTold = head - position <= most
        let streams = rows.isNull(0, 4) ? [] : rows.array(0, 4)
        return LogMoves(
            realm: realm, epoch: rows.int32(0, 0), from: position, to: head,
            configuration: rows.int64(0, 2), erasures: rows.int64(0, 3),
            streams: isTold ? streams.compactMap { $0.flatMap { UUID(bytes: $0) } } : nil,
            at: moment)
    }

    private static let most: Int64 = 5_000
}

private let asking = Statement(
    "log_moves",
    """
    select h.epoch, h.position, coalesce(c.position, 0), h.erasures,
        case when h.position - $2 between 1 and 5000 then (
            select array_agg(distinct e.stream) from urd.event e
            where e.realm = $1 and e.position > $2
        ) end
    from urd.realm_log h left join urd.configurations c on c.realm = h.realm
    where h.realm = $1
    """)
