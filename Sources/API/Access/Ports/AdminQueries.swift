public import EventSourcing
public import Values

/// What the admin API reads. Everything but the audit trail is as fresh as the log itself; a list
/// is given in the order of its cursor, from behind `after` on, at most `limit` of it.
public protocol AdminQueries: AccountQueries, WebAppQueries, DeviceQueries {
    /// Decides who gets in: must never lag, and must throw rather than answer from an old copy.
    func adminKey(_ id: UUID) async throws(LogFailure) -> AdminKeyView?

    func adminKeys(after: UUID?, limit: Int) async throws(LogFailure) -> [AdminKeyView]

    func realm(_ realm: RealmID) async throws(LogFailure) -> RealmView?

    func realms(after: String?, limit: Int) async throws(LogFailure) -> [RealmView]

    func hosts(
        of realm: RealmID, after: String?, limit: Int
    ) async throws(LogFailure) -> [HostView]

    func app(_ app: UUID, in realm: RealmID) async throws(LogFailure) -> AppView?

    func apps(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [AppView]

    func webApps(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [WebAppView]

    /// By the name that it goes by in OAuth. Deleted clients are not found.
    func client(
        _ clientID: String, in realm: RealmID
    ) async throws(LogFailure) -> ClientView?

    func clients(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [ClientView]

    /// Those that belong to an app, in the order of their ids.
    func clients(
        ofApp app: UUID, in realm: RealmID, limit: Int
    ) async throws(LogFailure) -> [ClientView]

    /// Of one app, or all.
    func invites(
        in realm: RealmID, app: UUID?, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [InviteView]

    func registrationTokens(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [RegistrationTokenView]

    /// From behind a position on, in the order that is asked for. It follows the log at a distance.
    func auditTrail(
        of realm: RealmID, _ selection: AuditSelection, after position: Int64?, limit: Int
    ) async throws(LogFailure) -> [AuditEntry]

    /// Waits, for a bounded time, until the audit trail holds everything up to a position.
    func auditTrail(
        of realm: RealmID, reaches position: Int64, epoch: Int
    ) async throws(LogFailure) -> Reached

    /// Events with their personal fields sealed.
    func events(
        of realm: RealmID, from position: Int64, limit: Int
    ) async throws(LogFailure) -> [Recorded]

    /// The newest signed checkpoint (C2SP tlog-checkpoint), as its signer wrote it.
    func checkpoint(of realm: RealmID) async throws(LogFailure) -> [UInt8]?

    /// Why the event at a position is in the log that the newest checkpoint signs. Nil: it is not
    /// sealed yet, or there is none.
    func inclusionProof(
        of position: Int64, in realm: RealmID
    ) async throws(LogFailure) -> InclusionView?

    /// A tile of the tree (C2SP tlog-tiles): `width` hashes of 32 bytes. Nil: not sealed yet.
    func tile(
        level: Int, index: Int64, width: Int, of realm: RealmID
    ) async throws(LogFailure) -> [UInt8]?
}

/// How far a following list came.
public enum Reached: Sendable {
    case yes
    case notYet
    /// The log was restored since: the position never comes again.
    case never
}

/// Which entries of the audit trail to list. What is not said does not matter.
public struct AuditSelection: Sendable, Equatable {
    public var actor: String?
    public var stream: UUID?
    /// A wire name, or what many begin with up to a dot.
    public var type: String?
    /// From this moment on.
    public var since: Timestamp?
    /// Before this moment.
    public var until: Timestamp?
    public var isNewestFirst = false

    public init() {}
}

public struct AuditEntry: Sendable, Equatable {
    public var position: Int64
    public var at: Timestamp
    /// The event's wire name, such as `client.registered`.
    public var type: String
    public var stream: UUID
    public var actor: String
    public var client: String?
    public var correlation: String?

    public init(
        position: Int64, at: Timestamp, type: String, stream: UUID, actor: String,
        client: String? = nil, correlation: String? = nil
    ) {
        self.position = position
        self.at = at
        self.type = type
        self.stream = stream
        self.actor = actor
        self.client = client
        self.correlation = correlation
    }
}

/// RFC 6962 inclusion: the record that is hashed, the path, and the checkpoint that signs the root
/// they lead to.
public struct InclusionView: Sendable, Equatable {
    public var position: Int64
    public var record: [UInt8]
    public var path: [[UInt8]]
    public var checkpoint: [UInt8]

    public init(position: Int64, record: [UInt8], path: [[UInt8]], checkpoint: [UInt8]) {
        self.position = position
        self.record = record
        self.path = path
        self.checkpoint = checkpoint
    }
}
