public import EventSourcing
public import Postgres
public import Values

/// The accounts of a realm, as fresh as the log. Nothing of a person is in here.
public struct Accounts: Sendable {
    public struct Entry: Sendable, Equatable {
        public let id: UUID
        /// The stream of its mail address.
        public let mailbox: UUID
        public let isConfirmed: Bool
        public let isDisabled: Bool
        /// When it is deleted, if nobody calls it off.
        public let deletionDue: Timestamp?
        public let registeredAt: Timestamp
        public let changedAt: Timestamp
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    public func find(_ id: UUID, in realm: RealmID) async throws(ReadFailure) -> Entry? {
        try await CurrentRows.read(
            finding, Parameters(in: realm, id), from: database, Entry.init
        ).first
    }

    public func find(mailbox: UUID, in realm: RealmID) async throws(ReadFailure) -> Entry? {
        var parameters = Parameters(realm: realm.name)
        parameters.add(mailbox)
        return try await CurrentRows.read(
            findingByMailbox, parameters, from: database, Entry.init
        ).first
    }

    /// In the order of their ids, from behind `after` on.
    public func page(
        in realm: RealmID, after: UUID? = nil, limit: Int
    ) async throws(ReadFailure) -> [Entry] {
        try await CurrentRows.read(
            listing, Parameters(in: realm, after: after, limit: limit), from: database, Entry.init)
    }
}

extension Accounts.Entry {
    fileprivate init?(_ rows: Rows, _ row: Int) {
        self.init(
            id: rows.identifier(row, 1), mailbox: rows.identifier(row, 2),
            isConfirmed: rows.bool(row, 3), isDisabled: rows.bool(row, 4),
            deletionDue: rows.isNull(row, 5) ? nil : rows.instant(row, 5),
            registeredAt: rows.instant(row, 6), changedAt: rows.instant(row, 7))
    }
}

private let columns = """
    a.account, a.mailbox, a.confirmed, a.disabled, a.deletion_due, a.registered_at, a.changed_at
    """

private let finding = Statement(
    "account_by_id",
    """
    select p.current, \(columns)
    from urd.accounts_position p
    left join urd.accounts a on a.realm = $1 and a.account = $2
    where p.realm = $1
    """)
private let findingByMailbox = Statement(
    "account_by_mailbox",
    """
    select p.current, \(columns)
    from urd.accounts_position p
    left join urd.accounts a on a.realm = $1 and a.mailbox = $2
    where p.realm = $1
    """)
private let listing = Statement(
    "account_page",
    """
    select p.current, \(columns)
    from urd.accounts_position p
    left join lateral (
        select * from urd.accounts a where a.realm = $1 and a.account > $2
        order by a.account limit $3
    ) a on true
    where p.realm = $1 order by a.account
    """)
