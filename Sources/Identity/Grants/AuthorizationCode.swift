public import Values

/// All that an authorization code stands for. Nothing of it is stored: the code itself is this,
/// sealed. The session that it opens has its name, so that it opens one at most.
public struct AuthorizationCode: Sendable, Equatable {
    public var id: UUID
    /// The client's stream.
    public var client: UUID
    public var account: UUID
    /// The browser session that it came of.
    public var browser: UUID
    /// Of the redirect URI that it was sent to.
    public var redirect: SecretDigest
    /// The request named that, so that it has to be named again (RFC 6749 section 4.1.3).
    public var namesRedirect: Bool
    /// Of the verifier that its client has (RFC 7636).
    public var challenge: SecretDigest?
    public var scope: [String]
    public var resources: [String]
    public var nonce: String?
    /// What was asked for by name: in the ID token, and of user info.
    public var idTokenClaims: [String]
    public var userInfoClaims: [String]
    public var authenticatedAt: Timestamp
    public var factors: [AuthenticationFactor]
    public var expiresAt: Timestamp
    /// The thumbprint of the key that its client has to prove (RFC 9449 section 10).
    public var key: String?
    /// What its client hears as `acr`, where that had to be a certain one.
    public var level: String?
    /// What named the realm in the answer that the code stood in (RFC 9207). Nil in codes of servers before.
    public var issuer: String?
    /// How often the account had removed access when its person let the client in.
    public var removals = 0
    /// The browser's `User-Agent`, where its client shows that: it is kept nowhere else.
    public var userAgent: String?

    public init(
        id: UUID, client: UUID, account: UUID, browser: UUID, redirect: SecretDigest,
        namesRedirect: Bool = true, challenge: SecretDigest? = nil, scope: [String] = [],
        resources: [String] = [], nonce: String? = nil, idTokenClaims: [String] = [],
        userInfoClaims: [String] = [], authenticatedAt: Timestamp,
        factors: [AuthenticationFactor], expiresAt: Timestamp, key: String? = nil,
        level: String? = nil, issuer: String? = nil
    ) {
        self.issuer = issuer
        self.level = level
        self.key = key
        self.id = id
        self.client = client
        self.account = account
        self.browser = browser
        self.redirect = redirect
        self.namesRedirect = namesRedirect
        self.challenge = challenge
        self.scope = scope
        self.resources = resources
        self.nonce = nonce
        self.idTokenClaims = idTokenClaims
        self.userInfoClaims = userInfoClaims
        self.authenticatedAt = authenticatedAt
        self.factors = factors
        self.expiresAt = expiresAt
    }
}
