import EventSourcing
public import Identity
public import Postgres
public import Values

/// The keys of the admin API, as fresh as the log of the system realm.
public struct AdminKeys: Sendable {
    public struct Entry: Sendable, Equatable {
        public let id: UUID
        public let name: String
        public let digest: SecretDigest
        public let scope: AdminScope
        public let createdAt: Timestamp
        /// Nil while it opens anything.
        public let revokedAt: Timestamp?
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    public func find(_ id: UUID) async throws(ReadFailure) -> Entry? {
        try await CurrentRows.read(
            finding, Parameters(in: .system, id), from: database, Entry.init
        ).first
    }

    /// In the order of their ids, from behind `after` on.
    public func page(after: UUID? = nil, limit: Int) async throws(ReadFailure) -> [Entry] {
        try await CurrentRows.read(
            listing, Parameters(in: .system, after: after, limit: limit), from: database, Entry.init
        )
    }
}

extension AdminKeys.Entry {
    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let bytes = Base64URL.decode(rows.text(row, 3)), let digest = SecretDigest(bytes)
        else { return nil }
        var scope = AdminScope.all
        if !rows.isNull(row, 4) {
            let names = rows.array(row, 4)
            let realms = names.compactMap { name in
                name.flatMap { RealmID(String(decoding: $0, as: UTF8.self)) }
            }
            // A realm that can't be read must never turn a narrow key into a wide one.
            guard realms.count == names.count else { return nil }
            scope = .only(realms)
        }
        self.init(
            id: rows.identifier(row, 1), name: rows.text(row, 2), digest: digest, scope: scope,
            createdAt: rows.instant(row, 5),
            revokedAt: rows.isNull(row, 6) ? nil : rows.instant(row, 6))
    }
}

private let columns = "k.key, k.name, k.digest, k.realms, k.created_at, k.revoked_at"

private let finding = Statement(
    "admin_key_by_id",
    """
    select p.current, \(columns)
    from urd.admin_keys_position p left join urd.admin_keys k on k.realm = $1 and k.key = $2
    where p.realm = $1
    """)
private let listing = Statement(
    "admin_key_page",
    """
    select p.current, \(columns)
    from urd.admin_keys_position p
    left join lateral (
        select * from urd.admin_keys k where k.realm = $1 and k.key > $2 order by k.key limit $3
    ) k on true
    where p.realm = $1 order by k.key
    """)
