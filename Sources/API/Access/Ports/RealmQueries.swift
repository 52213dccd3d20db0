public import EventSourcing
public import Identity
public import Values

/// What signing in reads, each answer as fresh as the log itself.
public protocol RealmQueries: SessionQueries, BrowserQueries, WebAppQueries {
    /// By the name that it goes by in OAuth. Deleted clients are not found.
    func knownClient(
        _ clientID: String, in realm: RealmID
    ) async throws(LogFailure) -> KnownClient?

    /// The streams of a realm's installations, in the order in which they were made.
    func installations(in realm: RealmID) async throws(LogFailure) -> [UUID]

    func session(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> SessionView?

    /// Of one app, or all.
    func invites(
        in realm: RealmID, app: UUID?, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [InviteView]

    /// By the stream of the two. Withdrawn ones are not found.
    func consent(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> ConsentView?

    func consents(
        of account: UUID, in realm: RealmID
    ) async throws(LogFailure) -> [ConsentView]

    /// What holds in an app: its own settings where it has some, else the realm's. Nil where there
    /// is no realm.
    func settings(
        ofApp app: UUID, in realm: RealmID
    ) async throws(LogFailure) -> Settings?

    /// By the id that its authenticator gave it, in any account. Removed ones are not found.
    func passkey(
        ofCredential credential: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> PasskeyView?

    /// Newest first.
    func passkeys(
        of account: UUID, in realm: RealmID
    ) async throws(LogFailure) -> [PasskeyView]
}

public struct KnownClient: Sendable, Equatable {
    /// The client's stream.
    public var id: UUID
    /// Without the personal members.
    public var metadata: ClientMetadata
    public var secret: SecretDigest?
    public var isDisabled: Bool

    public init(
        id: UUID, metadata: ClientMetadata, secret: SecretDigest?, isDisabled: Bool
    ) {
        self.id = id
        self.metadata = metadata
        self.secret = secret
        self.isDisabled = isDisabled
    }
}

public struct SessionView: Sendable, Equatable {
    public var id: UUID
    public var terms: SessionTerms
    /// The number of the refresh token that is good now.
    public var generation: Int
    /// When that was given, if it is not the first.
    public var refreshedAt: Timestamp?
    /// It ended before its time, or its account, client or realm may not go on.
    public var isOver: Bool

    public init(
        id: UUID, terms: SessionTerms, generation: Int, refreshedAt: Timestamp? = nil,
        isOver: Bool
    ) {
        self.id = id
        self.terms = terms
        self.generation = generation
        self.refreshedAt = refreshedAt
        self.isOver = isOver
    }
}
