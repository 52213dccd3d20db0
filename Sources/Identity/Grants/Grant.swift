public import EventSourcing
public import Values

/// What a client shows to get tokens: a code, a link, a passkey, a refresh token, or itself. Each kind
/// is one file: it gathers what it looks at and settles what comes of it.
public protocol Grant: SignInProof {
    static var type: GrantType { get }
    /// A person signs in by it: the outcome is put on record, success or failure.
    static var signsIn: Bool { get }
    /// It opens a session of its own instead of going on with one.
    static var opensSession: Bool { get }
    /// What it shows is used up by a request that asks for a scope or a resource in vain as well. One
    /// that can't be read, or whose client may not use the grant, has shown nothing.
    var isUsedInVain: Bool { get }

    /// The outcome where the token or code was used before, or is void, with any other content of the request; nil
    /// where it is good yet. It is asked before anything is looked at that the request could have said otherwise.
    func settleReuse(_ facts: Facts, at desk: GrantDesk) -> SettledDecision<GrantOutcome>?

    /// What comes of showing again what had been shown: `session` is what it opened, if anything.
    func settleRepeated(
        _ session: Versioned<Session>, _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome>
}

extension Grant {
    public static var signsIn: Bool { true }
    public static var opensSession: Bool { true }
    public var isUsedInVain: Bool { false }
    public func settleReuse(_ facts: Facts, at desk: GrantDesk) -> SettledDecision<GrantOutcome>? {
        nil
    }
    public func settleRepeated(
        _ session: Versioned<Session>, _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        throw .invalidCeremony("ceremony_used")
    }
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
    /// What names the realm at the host that was asked.
    public var issuer: String?
    /// It has a fault that the adapter found and tells, such as a proof that is not good: it gets nothing, and what it
    /// shows may have been used before all the same.
    public var isFaulty = false

    public init(
        client: UUID, clientID: String, proof: ClientProof, app: UUID? = nil,
        scope: [String] = [], resources: [String] = [], session: UUID,
        from: SignInPlace = SignInPlace(), now: Timestamp, keyProof: UsedProof? = nil,
        issuer: String? = nil
    ) {
        self.issuer = issuer
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

/// Where a person signs in from, as far as it may be known for ever: the same for the same network
/// and kind of device, and nothing that identifies a person by itself. A more precise location is sealed.
public struct SignInPlace: Sendable, Equatable {
    /// A keyed digest of the network.
    public var source: String?
    /// The kind of device, such as `iPhone`.
    public var device: String?
    /// By what the code came that was typed, if to a phone.
    public var channel: Channel?
    /// Where the network is. Nil where the location is not looked up, or not known.
    public var location: GeoLocation?

    public init(
        source: String? = nil, device: String? = nil, channel: Channel? = nil,
        location: GeoLocation? = nil
    ) {
        self.location = location
        self.channel = channel
        self.source = source
        self.device = device
    }
}
