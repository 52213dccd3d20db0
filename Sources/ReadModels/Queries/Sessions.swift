public import EventSourcing
public import EventStore
public import Identity
internal import JSON
public import Postgres
public import Values

/// The sessions of a realm with what decides whether their tokens are good, as fresh as the log.
public struct Sessions: Sendable {
    public struct Entry: Sendable, Equatable {
        public let id: UUID
        public let terms: SessionTerms
        public let generation: Int
        public let refreshedAt: Timestamp?
        /// Whether it ended before its time: by itself, or because its account, its client or its
        /// realm may not go on.
        public let isOver: Bool
    }

    private let byID: LookUp<UUID, Entry>

    public init(_ database: Database, hub: CommitHub) {
        let known = KnownSessions(hub)
        byID = LookUp(database) { connection, realm, ids in
            known.find(ids, in: realm, over: connection)
        }
    }

    public func find(_ id: UUID, in realm: RealmID) async throws(ReadFailure) -> Entry? {
        try await byID.find(id, in: realm)
    }
}

extension Sessions.Entry {
    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard var fields = rows.object(row, 3) else { return nil }
        if !rows.isNull(row, 2) { fields["account"] = .string(rows.identifier(row, 2).description) }
        guard let terms = SessionTerms(recorded: fields) else { return nil }
        self.init(
            id: rows.identifier(row, 1), terms: terms, generation: Int(rows.int32(row, 4)),
            refreshedAt: rows.isNull(row, 6) ? nil : rows.instant(row, 6),
            isOver: rows.bool(row, 5))
    }
}

extension Sessions {
    /// As the read models have them.
    static func read(
        _ ids: [UUID], in realm: RealmID, over connection: Connection
    ) -> Result<[UUID: Result<Entry, ReadFailure>], ReadFailure> {
        var parameters = Parameters(realm: realm.name)
        var array = ArrayParameter(of: .uuid)
        for id in ids { array.append(uuid: (id.high, id.low)) }
        parameters.add(array)
        return CurrentRows.read(
            finding, parameters, over: connection, key: { $0.identifier($1, 1) }, Entry.init)
    }
}

/// Every read model that has a say must be where the log is.
private let finding = Statement(
    "session_by_id",
    """
    select p.current and a.current and c.current and r.current,
        s.session, s.account, s.terms::text, s.generation,
        s.ended is not null
            or s.account is not null and not coalesce((
                select not x.disabled and x.stamp = (s.terms ->> 'stamp')::bigint
                from urd.accounts x where x.realm = $1 and x.account = s.account), false)
            or not coalesce((
                select not x.disabled from urd.clients x
                where x.realm = $1 and x.client = (s.terms ->> 'client')::uuid), false)
            or not coalesce((
                select not x.disabled from urd.realms x where x.realm = $1), false),
        s.refreshed_at
    from urd.sessions_position p
    join urd.accounts_position a on a.realm = p.realm
    join urd.clients_position c on c.realm = p.realm
    join urd.realms_position r on r.realm = p.realm
    left join urd.sessions s on s.realm = $1 and s.session = any ($2)
    where p.realm = $1
    """)
