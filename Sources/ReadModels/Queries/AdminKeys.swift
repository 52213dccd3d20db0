internal import EventSourcing
public import Identity
internal import Postgres
public import Values

/// A key of the admin API, without its secret.
public struct AdminKeyView: Sendable, Equatable {
    public var id: UUID
    public var name: String
    /// Of the secret and of the permissions: see `BearerKey`.
    public var digest: [UInt8]
    public var scope: AdminScope
    public var permissions: AdminPermissions
    public var createdAt: Timestamp
    /// Nil for a valid key.
    public var revokedAt: Timestamp?

    public init(
        id: UUID, name: String, digest: [UInt8], scope: AdminScope,
        permissions: AdminPermissions = .all, createdAt: Timestamp,
        revokedAt: Timestamp? = nil
    ) {
        self.id = id
        self.name = name
        self.digest = digest
        self.scope = scope
        self.permissions = permissions
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }

    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let bytes = Base64URL.decode(rows.text(row, 3)), let digest = SecretDigest(bytes)
        else { return nil }
        var scope = AdminScope.all
        if !rows.isNull(row, 4) {
            let names = rows.texts(row, 4)
            let realms = names.compactMap { RealmID($0) }
            // A realm that can't be read must never turn a narrow key into a wide one.
            guard realms.count == names.count else { return nil }
            scope = .only(realms)
        }
        var permissions = AdminPermissions.all
        if !rows.isNull(row, 5) {
            guard let read = AdminPermissions(names: rows.texts(row, 5)) else { return nil }
            permissions = read
        }
        self.init(
            id: rows.identifier(row, 1), name: rows.text(row, 2), digest: digest.bytes,
            scope: scope, permissions: permissions, createdAt: rows.instant(row, 6),
            revokedAt: rows.optionalInstant(row, 7))
    }
}

extension Rows {
    /// What is null or no text among them is a text that names nothing.
    fileprivate func texts(_ row: Int, _ column: Int) -> [String] {
        array(row, column).map { $0.map { String(decoding: $0, as: UTF8.self) } ?? "" }
    }
}

/// They are in the system realm.
extension AdminKeyView {
    private static let columns = Columns(
        of: "admin_keys", key: "key",
        "m.name, m.digest, m.realms, m.permissions, m.created_at, m.revoked_at", Self.init(_:_:))
    /// Decides who gets in: never lags, and fails rather than answer from an old copy.
    public static let byID: Question<UUID, AdminKeyView?> = columns.find(
        "admin_key_by_id", where: "m.key = $2"
    ).first(Parameters.init)
    public static let page = columns.page("admin_key_page").page()
}
