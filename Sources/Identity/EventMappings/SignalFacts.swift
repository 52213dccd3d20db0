public import JSON
public import Values

/// What a signal may need to know that its event does not say.
public struct SignalFacts: Sendable {
    /// Whom the event's session, device or credential belongs to.
    public var account: UUID?
    /// How the person had signed in, where the browser session goes on another's `line`.
    public var formerFactors: [String]?
    /// Those of a passkey that is removed.
    public var transports: [String]
    /// Whether the account had a passphrase before; where it is not known, the stream's version tells.
    public var hadPassphrase: Bool?
    /// New values of the claims that changed, as far as the receiver may see them. Without one, there
    /// is no signal of changed claims.
    public var claims: JSONObject

    public init(
        account: UUID? = nil, formerFactors: [String]? = nil, transports: [String] = [],
        hadPassphrase: Bool? = nil, claims: JSONObject = [:]
    ) {
        self.account = account
        self.formerFactors = formerFactors
        self.transports = transports
        self.hadPassphrase = hadPassphrase
        self.claims = claims
    }
}
