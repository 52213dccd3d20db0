public import EventSourcing
public import Values

/// What a client shows to get tokens: a code, a link, a passkey, a refresh token, or itself. Each kind
/// is one file: it gathers what it looks at and settles what comes of it.
public protocol Grant: Sendable {
    associatedtype Facts: Sendable

    static var type: GrantType { get }
    /// Somebody signs in by it: how it ends is put on record, whatever the end.
    static var signsIn: Bool { get }
    /// It opens a session of its own instead of going on with one.
    static var opensSession: Bool { get }
    /// The name that the session gets, where what is shown has one: with it the session is opened,
    /// or the attempt put on record, and whatever comes under the same name again is refused.
    var sessionName: UUID? { get }

    func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts

    /// Throws what is not this grant's fault; a refusal that has events of its own is an outcome.
    func settle(_ facts: Facts, at desk: GrantDesk) throws(GrantRefusal) -> Settled<GrantOutcome>

    /// Whose it is, as far as one can tell: for the record of an attempt that failed.
    func account(_ facts: Facts) -> UUID?

    /// Whose key seals where such an attempt came from.
    func subject(_ facts: Facts) -> UUID?
}

extension Grant {
    public func subject(_ facts: Facts) -> UUID? { account(facts) }
    public static var signsIn: Bool { true }
    public static var opensSession: Bool { true }
    public var sessionName: UUID? { nil }
}

/// A refusal here is one that was put on record.
public typealias GrantOutcome = Result<GrantedTokens, GrantRefusal>

/// All of a token request but the grant itself.
public struct GrantRequest: Sendable {
    /// The client's stream, its name and its proof.
    public var client: UUID
    public var clientID: String
    public var proof: ClientProof
    public var app: UUID?
    public var scope: [String]
    public var resources: [String]
    /// The session that is opened, if one is: the name of the attempt, if it fails.
    public var session: UUID
    public var from: SignInPlace
    public var now: Timestamp
    /// A proof of the key that the tokens shall be bound to (RFC 9449).
    public var keyProof: UsedProof?

    public init(
        client: UUID, clientID: String, proof: ClientProof, app: UUID? = nil,
        scope: [String] = [], resources: [String] = [], session: UUID,
        from: SignInPlace = SignInPlace(), now: Timestamp, keyProof: UsedProof? = nil
    ) {
        self.keyProof = keyProof
        self.client = client
        self.clientID = clientID
        self.proof = proof
        self.app = app
        self.scope = scope
        self.resources = resources
        self.session = session
        self.from = from
        self.now = now
    }
}

/// Where somebody signs in from, as far as it may be known for ever: the same for the same network
/// and kind of device, and nothing that leads back to a person by itself.
public struct SignInPlace: Sendable, Equatable {
    /// A keyed digest of the network.
    public var source: String?
    /// The kind of device, such as `iPhone`.
    public var device: String?

    public init(source: String? = nil, device: String? = nil) {
        self.source = source
        self.device = device
    }
}
