public import EventSourcing
public import Identity
public import JSON
public import Values

public struct AdminKeyView: Sendable, Equatable {
    public var id: UUID
    public var name: String
    /// SHA-256 of the secret: see `BearerKey`.
    public var digest: [UInt8]
    public var scope: AdminScope
    public var createdAt: Timestamp
    public var revokedAt: Timestamp?

    public init(
        id: UUID, name: String, digest: [UInt8], scope: AdminScope, createdAt: Timestamp,
        revokedAt: Timestamp? = nil
    ) {
        self.id = id
        self.name = name
        self.digest = digest
        self.scope = scope
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }
}

public struct RealmView: Sendable, Equatable {
    public var realm: RealmID
    public var isDisabled: Bool
    /// The settings that were set, by name; the display name is always among them.
    public var settings: JSONObject
    public var createdAt: Timestamp

    public init(
        realm: RealmID, isDisabled: Bool, settings: JSONObject, createdAt: Timestamp
    ) {
        self.realm = realm
        self.isDisabled = isDisabled
        self.settings = settings
        self.createdAt = createdAt
    }
}

public struct HostView: Sendable, Equatable {
    public var host: String
    public var realm: RealmID
    public var assignedAt: Timestamp

    public init(host: String, realm: RealmID, assignedAt: Timestamp) {
        self.host = host
        self.realm = realm
        self.assignedAt = assignedAt
    }
}

public struct AppView: Sendable, Equatable {
    public var id: UUID
    public var slug: String
    public var name: String
    /// The settings that it has for itself, by name.
    public var settings: JSONObject
    public var createdAt: Timestamp

    public init(
        id: UUID, slug: String, name: String, settings: JSONObject, createdAt: Timestamp
    ) {
        self.id = id
        self.slug = slug
        self.name = name
        self.settings = settings
        self.createdAt = createdAt
    }
}

public struct ClientView: Sendable, Equatable {
    /// The client's stream.
    public var id: UUID
    public var clientID: String
    /// Under the names of RFC 7591, without the personal members.
    public var metadata: JSONObject
    public var isDisabled: Bool
    public var issuedAt: Timestamp

    public init(
        id: UUID, clientID: String, metadata: JSONObject, isDisabled: Bool,
        issuedAt: Timestamp
    ) {
        self.id = id
        self.clientID = clientID
        self.metadata = metadata
        self.isDisabled = isDisabled
        self.issuedAt = issuedAt
    }
}
