public import Identity
internal import JSON
internal import Postgres
public import Values

/// What a person lets a client know and do.
public struct ConsentView: Sendable, Equatable {
    public var id: UUID
    public var given: GivenConsent

    public init(id: UUID, given: GivenConsent) {
        self.id = id
        self.given = given
    }

    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let scope = rows.list(row, 5), let resources = rows.list(row, 7),
            let places = (try? JSON.parse(rows.bytes(row, 8))).flatMap(PlacedAgreement.list)
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

extension ConsentView {
    private static let columns = Columns(
        of: "consents", key: "consent",
        """
        m.account, m.client, m.client_id, m.scope::text, m.given_at, m.resources::text, m.places::text
        """, Self.init(_:_:))
    /// By the stream of the two. Withdrawn consents are not found.
    public static let byID: Question<UUID, ConsentView?> = columns.find(
        "consent_by_id", where: "m.consent = $2"
    ).first(Parameters.init)
    public static let ofAccount: Question<UUID, [ConsentView]> = columns.all(
        "consents_of_account", where: "m.account = $2"
    ).all(Parameters.init)
}
