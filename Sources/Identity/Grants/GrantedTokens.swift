public import Values

/// What a client gets: the tokens follow from it under the realm's key.
public struct GrantedTokens: Sendable, Equatable {
    public let session: UUID
    /// The number of the refresh token, and of the access token that goes with it.
    public let generation: Int
    public let terms: SessionTerms
    /// What this access token is good for: all of the session's, or less.
    public let scope: [String]
    public let resources: [String]
    /// Lifetime of the access token in seconds.
    public let lifetime: Int64
    public let style: TokenStyle
    /// The thumbprint of the key that the access token is bound to.
    public let key: String?
    /// What the ID token of this answer says beside the usual.
    public var nonce: String?
    public var idTokenClaims: [String] = []
    /// The `acr`, where that had to be a certain one.
    public var level: String?
    /// The sign-in of a browser that the session came of just now.
    public var login: BrowserTerms?
    /// How its person signs in within the apps of the tenant that redeemed a code.
    public var tenantMethods: [TenantMethod] = []

    public init(
        session: UUID, generation: Int, terms: SessionTerms, scope: [String],
        resources: [String], lifetime: Int64, style: TokenStyle = TokenStyle(),
        key: String? = nil
    ) {
        self.key = key
        self.session = session
        self.generation = generation
        self.terms = terms
        self.scope = scope
        self.resources = resources
        self.lifetime = lifetime
        self.style = style
    }
}

/// What a client's tokens look like.
public struct TokenStyle: Sendable, Equatable {
    public var accessToken = TokenFormat.reference
    public var accessTokenSignature = TokenSignature.rs256
    public var idTokenSignature = TokenSignature.rs256
    /// The ID token says of the person what the scope allows.
    public var idTokenShowsPerson = false

    public init() {}

    init(_ metadata: ClientMetadata) {
        accessToken = metadata.accessTokenFormat
        accessTokenSignature = metadata.accessTokenSignature
        idTokenSignature = metadata.idTokenSignature
        idTokenShowsPerson = metadata.rules.idTokenShowsPerson
    }
}
