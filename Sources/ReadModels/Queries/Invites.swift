public import Identity
internal import Postgres
public import Values

/// An invite, without its code, which is kept nowhere.
public struct InviteView: Sendable, Equatable {
    public var id: UUID
    public var terms: InviteTerms
    public var createdAt: Timestamp
    public var usedAt: Timestamp?

    public init(id: UUID, terms: InviteTerms, createdAt: Timestamp, usedAt: Timestamp? = nil) {
        self.id = id
        self.terms = terms
        self.createdAt = createdAt
        self.usedAt = usedAt
    }

    fileprivate init(_ rows: Rows, _ row: Int) {
        self.init(
            id: rows.identifier(row, 1),
            terms: InviteTerms(
                app: rows.optionalIdentifier(row, 2), mailbox: rows.optionalIdentifier(row, 3),
                expiresAt: rows.instant(row, 4)),
            createdAt: rows.instant(row, 5), usedAt: rows.optionalInstant(row, 6))
    }
}

extension InviteView {
    private static let columns = Columns(
        of: "invites", key: "invite", "m.app, m.mailbox, m.expires_at, m.created_at, m.used_at",
        Self.init(_:_:))
    public static let page = columns.page("invite_page").page()
    public static let ofApp:
        Question<
            (app: UUID, after: UUID?, limit: Int), ListPage<InviteView>
        > = columns.page("invite_page_of_app", where: "m.app = $4 and m.invite > $2").page {
            var parameters = Parameters(in: $0, after: $1.after, limit: $1.limit)
            parameters.add($1.app)
            return parameters
        }
}
