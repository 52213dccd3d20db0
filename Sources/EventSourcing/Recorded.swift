public import JSON
public import Values

/// An event as the log holds it.
public struct Recorded: Sendable, Equatable {
    /// What became of the fields that were sealed.
    public enum Personal: Sendable, Equatable {
        /// The event had none.
        case none
        case opened(JSONObject)
        /// The reader had no business opening them, or did not ask.
        case sealed
        /// Their subject was erased: the key is gone for good.
        case erased
        /// The subject was not erased, and yet their key is missing or does not open the fields:
        /// `urd verify` counts these. Readers see nothing, as if the subject was erased.
        case unreadable

        public var isGone: Bool { self == .erased || self == .unreadable }
    }

    public let realm: RealmID
    public let position: Int64
    public let stream: UUID
    public let version: Int
    public let name: String
    public let revision: Int
    public let at: Timestamp
    public let command: UUID
    public let subject: UUID?
    public let actor: String
    public let client: String?
    public let correlation: String?
    public let leaf: LeafHash
    public let open: JSONObject
    public let personal: Personal

    public init(
        realm: RealmID, position: Int64, stream: UUID, version: Int, name: String, revision: Int,
        at: Timestamp, command: UUID, subject: UUID?, actor: String, client: String?,
        correlation: String?, leaf: LeafHash, open: JSONObject, personal: Personal
    ) {
        self.realm = realm
        self.position = position
        self.stream = stream
        self.version = version
        self.name = name
        self.revision = revision
        self.at = at
        self.command = command
        self.subject = subject
        self.actor = actor
        self.client = client
        self.correlation = correlation
        self.leaf = leaf
        self.open = open
        self.personal = personal
    }

    /// The same event with its personal fields in another condition.
    public func with(_ personal: Personal) -> Recorded {
        Recorded(
            realm: realm, position: position, stream: stream, version: version, name: name,
            revision: revision, at: at, command: command, subject: subject, actor: actor,
            client: client, correlation: correlation, leaf: leaf, open: open, personal: personal)
    }

    public var id: EventID { EventID(leaf) }
}
