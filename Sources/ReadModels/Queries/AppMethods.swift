public import Identity
internal import Postgres
public import Values

/// A device's key or the PIN with which a person signs in within the apps of a tenant.
public struct AppMethodView: Sendable, Equatable {
    /// The stream of what the person has within those apps.
    public var owner: UUID
    /// Nil: the PIN.
    public var key: UUID?
    public var account: UUID
    public var client: UUID
    public var method: TenantMethod
    public var enrolledAt: Timestamp

    public init(
        owner: UUID, key: UUID?, account: UUID, client: UUID, method: TenantMethod,
        enrolledAt: Timestamp
    ) {
        self.owner = owner
        self.key = key
        self.account = account
        self.client = client
        self.method = method
        self.enrolledAt = enrolledAt
    }

    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let method = TenantMethod(rawValue: rows.text(row, 5)) else { return nil }
        self.init(
            owner: rows.identifier(row, 1), key: method.isKey ? rows.identifier(row, 2) : nil,
            account: rows.identifier(row, 3), client: rows.identifier(row, 4), method: method,
            enrolledAt: rows.instant(row, 6))
    }
}

extension AppMethodView {
    /// The device keys and PINs of a person; those of one tenant's apps beside each other.
    public static let ofAccount: Question<UUID, [AppMethodView]> = Columns(
        of: "app_methods", key: "owner", "m.method, m.account, m.client, m.kind, m.enrolled_at",
        Self.init(_:_:)
    ).all("app_methods_of_account", where: "m.account = $2").all(Parameters.init)
}
