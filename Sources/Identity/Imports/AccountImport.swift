internal import EventSourcing
public import Values

/// The systems whose exports of accounts are read.
public enum ImportSource: String, CaseIterable, Sendable {
    case csv, auth0, keycloak, cognito, firebase, zitadel, okta
    /// Our own export of accounts.
    case urd
}

/// Where an account was before, and since when.
public struct AccountImport: Sendable, Equatable {
    public var source: ImportSource
    /// The account's name in that system. Nil where its person is erased.
    public var foreignID: String?
    public var createdAt: Timestamp?

    public init(source: ImportSource, foreignID: String?, createdAt: Timestamp? = nil) {
        self.source = source
        self.foreignID = foreignID
        self.createdAt = createdAt
    }
}

extension Field<AccountImport> {
    static let accountImport = record(
        .choice("source", "System that the account was moved in from."),
        .optional(
            .text("foreign_id", "Name of the account in that system.", .personal(.person))),
        .optional(.time("created_at", "Time at which it was created there.")),
        make: { AccountImport(source: $0, foreignID: $1, createdAt: $2) },
        take: { ($0.source, $0.foreignID, $0.createdAt) })
}
