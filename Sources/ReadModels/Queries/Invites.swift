public import EventSourcing
public import Identity
public import Postgres
public import Values

/// The invites of a realm, as fresh as the log.
public struct Invites: Sendable {
    public struct Entry: Sendable, Equatable {
        public let id: UUID
        public let terms: InviteTerms
        public let createdAt: Timestamp
        public let usedAt: Timestamp?
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    /// In the order of their ids, from behind `after` on; of one app, or all.
    public func page(
        in realm: RealmID, app: UUID?, after: UUID? = nil, limit: Int
    ) async throws(ReadFailure) -> [Entry] {
        var parameters = Parameters(realm: realm.name)
        parameters.add(after ?? .zero)
        parameters.add(Int64(limit))
        if let app { parameters.add(app) }
        return try await CurrentRows.read(
            app == nil ? listing : listingOfApp, parameters, from: database, Entry.init)
    }
}

extension Invites.Entry {
    fileprivate init?(_ rows: Rows, _ row: Int) {
        self.init(
            id: rows.identifier(row, 1),
            terms: InviteTerms(
                app: rows.isNull(row, 2) ? nil : rows.identifier(row, 2),
                mailbox: rows.isNull(row, 3) ? nil : rows.identifier(row, 3),
                expiresAt: rows.instant(row, 4)),
            createdAt: rows.instant(row, 5),
            usedAt: rows.isNull(row, 6) ? nil : rows.instant(row, 6))
    }
}

private let columns = "i.invite, i.app, i.mailbox, i.expires_at, i.created_at, i.used_at"

private let listing = Statement(
    "invite_page",
    """
    select p.current, \(columns)
    from urd.invites_position p
    left join lateral (
        select * from urd.invites i where i.realm = $1 and i.invite > $2
        order by i.invite limit $3
    ) i on true
    where p.realm = $1 order by i.invite
    """)
private let listingOfApp = Statement(
    "invite_page_of_app",
    """
    select p.current, \(columns)
    from urd.invites_position p
    left join lateral (
        select * from urd.invites i where i.realm = $1 and i.app = $4 and i.invite > $2
        order by i.invite limit $3
    ) i on true
    where p.realm = $1 order by i.invite
    """)
