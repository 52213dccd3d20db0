public import EventSourcing
public import Identity
internal import JSON
public import Postgres
public import Values

/// What people let clients know and do, as fresh as the log.
public struct Consents: Sendable {
    public struct Entry: Sendable, Equatable {
        public let id: UUID
        public let given: GivenConsent
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

    /// All of an account.
    public func all(
        of account: UUID, in realm: RealmID
    ) async throws(ReadFailure) -> [Entry] {
        try await CurrentRows.read(
            listing, Parameters(in: realm, account), from: database, Entry.init
        )
    }
}

extension Consents.Entry {
    fileprivate init?(_ rows: Rows, _ row: Int) {
        func list(_ column: Int) -> JSON? { try? JSON.parse(rows.bytes(row, column)) }
        guard let scope = list(5)?.array?.compactMap(\.string),
            let resources = list(7)?.array?.compactMap(\.string),
            let places = list(8).flatMap(PlacedAgreement.list)
        else { return nil }
        self.init(
            id: rows.identifier(row, 1),
            given: GivenConsent(
                account: rows.identifier(row, 2), client: rows.identifier(row, 3),
                clientID: rows.text(row, 4),
                agreed: Agreement(scope: scope, resources: resources), places: places,
                at: rows.instant(row, 6)))
    }
}

private let columns = """
    c.consent, c.account, c.client, c.client_id, c.scope::text, c.given_at, c.resources::text,
    c.places::text
    """

private let finding = Statement(
    "consent_by_id",
    """
    select p.current, \(columns)
    from urd.consents_position p
    left join urd.consents c on c.realm = $1 and c.consent = $2
    where p.realm = $1
    """)
private let listing = Statement(
    "consents_of_account",
    """
    select p.current, \(columns)
    from urd.consents_position p
    left join urd.consents c on c.realm = $1 and c.account = $2
    where p.realm = $1 order by c.consent
    """)
