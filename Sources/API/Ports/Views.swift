public import EventSourcing
public import JSON
public import Values

/// Which realms an admin key may manage.
public enum KeyRealms: Sendable, Equatable {
    case all
    case some(Set<RealmID>)

    /// A realm that there can't be is in no list of names.
    func include(_ realm: RealmID?) -> Bool {
        switch self {
        case .all: true
        case .some(let realms): realm.map(realms.contains) ?? false
        }
    }
}

public struct AdminKeyView: Sendable, Equatable {
    public var id: UUID
    public var name: String
    /// SHA-256 of the secret: see `BearerKey`.
    public var digest: [UInt8]
    public var realms: KeyRealms
    public var createdAt: Timestamp
    public var revokedAt: Timestamp?

    public init(
        id: UUID, name: String, digest: [UInt8], realms: KeyRealms, createdAt: Timestamp,
        revokedAt: Timestamp? = nil
    ) {
        self.id = id
        self.name = name
        self.digest = digest
        self.realms = realms
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }
}

public struct RealmView: Sendable, Equatable {
    public var realm: RealmID
    public var displayName: String
    public var isEnabled: Bool
    /// Those that are set, by name.
    public var settings: [String: JSON]
    public var createdAt: Timestamp

    public init(
        realm: RealmID, displayName: String, isEnabled: Bool, settings: [String: JSON],
        createdAt: Timestamp
    ) {
        self.realm = realm
        self.displayName = displayName
        self.isEnabled = isEnabled
        self.settings = settings
        self.createdAt = createdAt
    }
}

public struct HostView: Sendable, Equatable {
    public var host: String
    public var assignedAt: Timestamp

    public init(host: String, assignedAt: Timestamp) {
        self.host = host
        self.assignedAt = assignedAt
    }
}

public struct AppView: Sendable, Equatable {
    public var id: UUID
    public var fields: [String: JSON]
    public var createdAt: Timestamp

    public init(id: UUID, fields: [String: JSON], createdAt: Timestamp) {
        self.id = id
        self.fields = fields
        self.createdAt = createdAt
    }
}

public struct ClientView: Sendable, Equatable {
    public var id: UUID
    /// Under the names of RFC 7591.
    public var metadata: [String: JSON]
    public var isEnabled: Bool
    public var issuedAt: Timestamp

    public init(id: UUID, metadata: [String: JSON], isEnabled: Bool, issuedAt: Timestamp) {
        self.id = id
        self.metadata = metadata
        self.isEnabled = isEnabled
        self.issuedAt = issuedAt
    }
}
