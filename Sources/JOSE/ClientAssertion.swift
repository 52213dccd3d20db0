public import Cryptography
internal import JSON
public import Values

/// How a client proves itself with a key instead of a secret: `private_key_jwt` (RFC 7523 section
/// 2.2 and 3, OpenID Connect Core section 9).
public struct ClientAssertion: Sendable, Hashable {
    public static let longestID = 256
    public static let longestText = 8 << 10

    public var clientID: String
    /// The server that it is meant for, by its issuer identifier.
    public var audience: String
    /// Once used, it must not be taken again as long as `Rules.lastUse(of:)` says: that is the
    /// caller's to remember.
    public var id: String
    public var issuedAt: Timestamp?
    /// The signed expiry time; for a checked assertion the end of its use, which may be earlier.
    public var expiresAt: Timestamp

    public init(
        clientID: String, audience: String, id: String, issuedAt: Timestamp?,
        expiresAt: Timestamp
    ) {
        self.clientID = clientID
        self.audience = audience
        self.id = id
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }

    public func signed(by key: SigningKey) throws(Failure) -> String {
        var claims: JSONObject = [:]
        claims.set(.issuer, .string(clientID))
        claims.set(.subject, .string(clientID))
        claims.set(.audience, .string(audience))
        claims.set(.id, .string(id))
        claims.set(.issuedAt, issuedAt.map { .integer($0.seconds) })
        claims.set(.expiresAt, .integer(expiresAt.seconds))
        return try JWS.sign(JSON.object(claims).canonical(), by: key, type: "JWT")
    }

    /// What the server demands of every client alike.
    public struct Rules: Sendable, Hashable {
        /// Our issuer identifier, and the URLs of ours that older clients write instead. Each
        /// assertion names exactly one: one that names two servers could be carried from one to
        /// the other.
        public var audiences: Set<String>
        public var leeway: Int64
        /// Maximum lifetime of an assertion in seconds; a longer one is refused.
        public var longestLifetime: Int64
        /// Seconds from `iat` in which it can be used, however long it was signed for: so long its `jti` has to
        /// be remembered. One without `iat` may not live longer than this.
        public var longestUse: Int64
        public var longest: Int

        public init(
            audiences: Set<String>, leeway: Int64 = 30, longestLifetime: Int64 = 3600,
            longestUse: Int64 = 300, longest: Int = longestText
        ) {
            self.audiences = audiences
            self.leeway = leeway
            self.longestLifetime = longestLifetime
            self.longestUse = longestUse
            self.longest = longest
        }

        /// Until when the checks let it through; its end alone would leave a gap of the leeway.
        public func lastUse(of assertion: ClientAssertion) -> Timestamp {
            assertion.expiresAt.adding(seconds: ClaimRules.bounded(leeway))
        }
    }

    /// `keys` are those that this client registered, and `algorithms` what it registered for its
    /// assertions. The result is authentic, but may have been used before.
    public static func check(
        _ text: String, of clientID: String, keys: KeySet, algorithms: Set<Algorithm>,
        rules: Rules, at now: Timestamp
    ) throws(TokenRejection) -> ClientAssertion {
        let verified = try JWS.verify(
            text, by: keys,
            rules: JWS.Rules(
                algorithms: algorithms, types: .clientAssertion, longest: rules.longest))
        let claims = try Claims(payload: verified.payload)
        // A request object that the client has signed with the same key (RFC 9101 section 10.8).
        guard claims.members["response_type"] == nil else { throw .wrongType }
        guard try claims.need(.subject, claims.subject).hasSameBytes(as: clientID) else {
            throw .wrongSubject
        }
        let expiresAt = try ClaimRules(
            issuer: clientID, audience: .isOnly(rules.audiences), leeway: rules.leeway,
            longestLifetime: claims.issuedAt == nil ? rules.longestUse : rules.longestLifetime
        ).check(claims, at: now)
        let lastUse = claims.issuedAt.map { $0.adding(seconds: rules.longestUse) } ?? expiresAt
        let end = min(expiresAt, lastUse)
        guard now < end.adding(seconds: ClaimRules.bounded(rules.leeway)) else { throw .expired }
        let id = try claims.need(.id, claims.id)
        guard id.utf8.count <= longestID else { throw .malformedClaim(.id) }
        return ClientAssertion(
            clientID: clientID,
            audience: try claims.need(.audience, claims.audience?.first), id: id,
            issuedAt: claims.issuedAt, expiresAt: end)
    }

    /// The client that the assertion claims to be from, so that its keys can be looked up. The signature is not checked yet,
    /// and only that look-up may depend on it.
    public static func claimedClient(in text: String) throws(TokenRejection) -> String {
        let message = try CompactJWS(text, most: longestText)
        let claims = try Claims(payload: message.payload)
        return try claims.need(.subject, claims.subject)
    }
}
