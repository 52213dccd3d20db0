public import Cryptography
public import JSON
public import Values

/// An access token that resource servers read themselves (RFC 9068).
public struct AccessToken: Sendable, Hashable {
    public var issuer: String
    public var subject: String
    /// The resource servers; at least one.
    public var audience: [String]
    public var clientID: String
    public var id: String
    public var issuedAt: Timestamp
    public var expiresAt: Timestamp
    public var scope: [String]
    /// These three when a user was there (section 2.2.1).
    public var authenticatedAt: Timestamp?
    public var authenticationContext: String?
    public var authenticationMethods: [String]
    /// Other claims; those with a name of the above are ignored here.
    public var additional: JSONObject

    public init(
        issuer: String, subject: String, audience: [String], clientID: String, id: String,
        issuedAt: Timestamp, expiresAt: Timestamp, scope: [String] = [],
        authenticatedAt: Timestamp? = nil, authenticationContext: String? = nil,
        authenticationMethods: [String] = [], additional: JSONObject = [:]
    ) {
        self.issuer = issuer
        self.subject = subject
        self.audience = audience
        self.clientID = clientID
        self.id = id
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.scope = scope
        self.authenticatedAt = authenticatedAt
        self.authenticationContext = authenticationContext
        self.authenticationMethods = authenticationMethods
        self.additional = additional
    }

    public func signed(by key: SigningKey) throws(Failure) -> String {
        try JWS.sign(JSON.object(claims).canonical(), by: key, type: JWTType.accessToken.rawValue)
    }

    private var claims: JSONObject {
        var claims = additional
        claims.set(.issuer, .string(issuer))
        claims.set(.subject, .string(subject))
        claims.set(.audience, .audience(audience))
        claims.set(.clientID, .string(clientID))
        claims.set(.id, .string(id))
        claims.set(.issuedAt, .integer(issuedAt.seconds))
        claims.set(.expiresAt, .integer(expiresAt.seconds))
        claims.set(.scope, scope.isEmpty ? nil : .string(scope.joined(separator: " ")))
        claims.set(.authenticatedAt, authenticatedAt.map { .integer($0.seconds) })
        claims.set(.authenticationContext, authenticationContext.map { .string($0) })
        claims.set(.authenticationMethods, .texts(authenticationMethods))
        return claims
    }

    /// As a resource server checks it (section 4).
    public static func check(
        _ text: String, keys: KeySet, rules: ClaimRules, at now: Timestamp,
        algorithms: Set<Algorithm> = [.es256, .rs256]
    ) throws(TokenRejection) -> AccessToken {
        let verified = try JWS.verify(
            text, by: keys, rules: JWS.Rules(algorithms: algorithms, types: .accessToken))
        let claims = try Claims(payload: verified.payload)
        let expiresAt = try rules.check(claims, at: now)
        return try AccessToken(claims, expiresAt: expiresAt)
    }

    /// As the server itself checks what comes back to it. `keys` are its own, which sign for no
    /// other issuer: under which of its names it did, and for whom, is not asked. Without a time,
    /// an expired token is accepted as well.
    public static func own(
        _ text: String, keys: KeySet, at now: Timestamp?
    ) throws(TokenRejection) -> AccessToken {
        let verified = try JWS.verify(text, by: keys, rules: JWS.Rules(types: .accessToken))
        let claims = try Claims(payload: verified.payload)
        let expiresAt = try claims.need(.expiresAt, claims.expiresAt)
        if let now, now >= expiresAt { throw .expired }
        return try AccessToken(claims, expiresAt: expiresAt)
    }

    private init(_ claims: Claims, expiresAt: Timestamp) throws(TokenRejection) {
        issuer = try claims.need(.issuer, claims.issuer)
        subject = try claims.need(.subject, claims.subject)
        audience = try claims.need(.audience, claims.audience)
        clientID = try claims.need(.clientID, claims.text(.clientID))
        id = try claims.need(.id, claims.id)
        issuedAt = try claims.need(.issuedAt, claims.issuedAt)
        self.expiresAt = expiresAt
        scope = try claims.text(.scope)?.split(separator: " ").map { String($0) } ?? []
        authenticatedAt = try claims.instant(.authenticatedAt)
        authenticationContext = try claims.text(.authenticationContext)
        authenticationMethods = try claims.texts(.authenticationMethods) ?? []
        additional = claims.others(than: [
            .issuer, .subject, .audience, .clientID, .id, .issuedAt, .expiresAt, .scope,
            .authenticatedAt, .authenticationContext, .authenticationMethods,
        ])
    }
}
