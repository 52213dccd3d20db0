public import Identity
internal import Postgres
public import Values

/// A token by which clients register themselves, without its text, which is kept nowhere.
public struct RegistrationTokenView: Sendable, Equatable {
    public var id: UUID
    public var terms: RegistrationTerms
    public var used: Int
    public var createdAt: Timestamp

    public init(id: UUID, terms: RegistrationTerms, used: Int, createdAt: Timestamp) {
        self.id = id
        self.terms = terms
        self.used = used
        self.createdAt = createdAt
    }

    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let scope = rows.list(row, 5) else { return nil }
        self.init(
            id: rows.identifier(row, 1),
            terms: RegistrationTerms(
                label: rows.text(row, 2), uses: rows.integer(row, 3), scope: scope,
                expiresAt: rows.instant(row, 6)),
            used: rows.integer(row, 4), createdAt: rows.instant(row, 7))
    }
}

extension RegistrationTokenView {
    public static let page = Columns(
        of: "registration_tokens", key: "token",
        "m.label, m.uses, m.used, m.scope::text, m.expires_at, m.created_at", Self.init(_:_:)
    ).page("registration_token_page").page()
}
