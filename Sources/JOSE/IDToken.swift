public import Cryptography
public import JSON
public import Values

/// What a client learns about the sign-in (OpenID Connect Core, section 2).
public struct IDToken: Sendable, Hashable {
    public var issuer: String
    public var subject: String
    /// The client, as the only audience.
    public var clientID: String
    public var issuedAt: Timestamp
    public var expiresAt: Timestamp
    public var nonce: String?
    public var authenticatedAt: Timestamp?
    public var authenticationContext: String?
    public var authenticationMethods: [String]
    /// Ties the access token of the same answer to this one; see `hash(ofAccessToken:)`.
    public var accessTokenHash: String?
    /// Claims about the user, and other claims; those with a name of the above are ignored here.
    public var additional: JSONObject

    public init(
        issuer: String, subject: String, clientID: String, issuedAt: Timestamp,
        expiresAt: Timestamp, nonce: String? = nil, authenticatedAt: Timestamp? = nil,
        authenticationContext: String? = nil, authenticationMethods: [String] = [],
        accessToken: String? = nil, additional: JSONObject = [:]
    ) {
        self.issuer = issuer
        self.subject = subject
        self.clientID = clientID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.nonce = nonce
        self.authenticatedAt = authenticatedAt
        self.authenticationContext = authenticationContext
        self.authenticationMethods = authenticationMethods
        accessTokenHash = accessToken.map(Self.hash(ofAccessToken:))
        self.additional = additional
    }

    /// Section 3.1.3.6: the left half of the hash that the signature's algorithm uses. That is
    /// SHA-256 for all that Urd signs with, and for no other is it computed.
    public static func hash(ofAccessToken token: String) -> String {
        Base64URL.encode(Array(SHA256.hash(Array(token.utf8)).prefix(16)))
    }

    public func signed(by key: SigningKey) throws(Failure) -> String {
        try JWS.sign(JSON.object(claims).canonical(), by: key, type: JWTType.idToken.rawValue)
    }

    private var claims: JSONObject {
        var claims = additional
        // In the order of their names, in which they are put down fastest.
        claims.set(.authenticationContext, authenticationContext.map { .string($0) })
        claims.set(.authenticationMethods, .texts(authenticationMethods))
        claims.set(.accessTokenHash, accessTokenHash.map { .string($0) })
        claims.set(.audience, .string(clientID))
        claims.set(.authenticatedAt, authenticatedAt.map { .integer($0.seconds) })
        claims.set(.authorizedParty, .string(clientID))
        claims.set(.expiresAt, .integer(expiresAt.seconds))
        claims.set(.issuedAt, .integer(issuedAt.seconds))
        claims.set(.issuer, .string(issuer))
        claims.set(.nonce, nonce.map { .string($0) })
        claims.set(.subject, .string(subject))
        return claims
    }

    /// As a client checks it (section 3.1.3.7), stricter in two things: the client is the only
    /// audience, and an access token that came along must be hashed.
    ///
    /// `nonce` is the one that was sent, nil when none was.
    public static func check(
        _ text: String, keys: KeySet, issuer: String, clientID: String, nonce: String?,
        accessToken: String? = nil, at now: Timestamp, leeway: Int64 = 30,
        algorithms: Set<Algorithm> = [.es256, .rs256]
    ) throws(TokenRejection) -> IDToken {
        let verified = try JWS.verify(
            text, by: keys, rules: JWS.Rules(algorithms: algorithms, types: .idToken))
        let claims = try Claims(payload: verified.payload)
        // A security event, such as a logout token of a provider that gives it no `typ` of its own (RFC 8417).
        guard claims.members["events"] == nil else { throw .wrongType }
        let rules = ClaimRules(issuer: issuer, audience: .isOnly([clientID]), leeway: leeway)
        let expiresAt = try rules.check(claims, at: now)
        if let party = try claims.text(.authorizedParty), !party.hasSameBytes(as: clientID) {
            throw .wrongClient
        }
        let token = try IDToken(claims, clientID: clientID, expiresAt: expiresAt)
        if let nonce {
            guard let sent = token.nonce, sent.hasSameBytes(as: nonce) else { throw .wrongNonce }
        }
        if let accessToken {
            try token.check(accessToken, algorithm: verified.algorithm)
        }
        return token
    }

    private func check(
        _ accessToken: String, algorithm: Algorithm
    ) throws(TokenRejection) {
        switch algorithm {
        case .es256, .rs256, .ps256: break
        // Another hash, or none that everybody agrees on: then nothing is proved.
        case .es384, .edDSA, .ed25519: throw .wrongAccessTokenHash
        }
        guard let accessTokenHash,
            accessTokenHash.hasSameBytes(as: Self.hash(ofAccessToken: accessToken))
        else { throw .wrongAccessTokenHash }
    }

    private init(
        _ claims: Claims, clientID: String, expiresAt: Timestamp
    ) throws(TokenRejection) {
        issuer = try claims.need(.issuer, claims.issuer)
        subject = try claims.need(.subject, claims.subject)
        self.clientID = clientID
        issuedAt = try claims.need(.issuedAt, claims.issuedAt)
        self.expiresAt = expiresAt
        nonce = try claims.text(.nonce)
        authenticatedAt = try claims.instant(.authenticatedAt)
        authenticationContext = try claims.text(.authenticationContext)
        authenticationMethods = try claims.texts(.authenticationMethods) ?? []
        accessTokenHash = try claims.text(.accessTokenHash)
        additional = claims.others(than: [
            .issuer, .subject, .audience, .authorizedParty, .issuedAt, .expiresAt, .nonce,
            .authenticatedAt, .authenticationContext, .authenticationMethods, .accessTokenHash,
        ])
    }
}
