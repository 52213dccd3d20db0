internal import JSON
public import Values

/// A statement by a trusted third party: about a client (RFC 7591 section 2.3), or about a person
/// (RFC 7523 section 2.1).
public struct SignedStatement: Sendable, Hashable {
    public static let longestText = 16 << 10

    public let issuer: String
    public let claims: Claims

    /// The issuer that the statement claims, so that its keys can be looked up. The signature is not checked yet, and only
    /// that look-up may depend on it.
    public static func claimedIssuer(in text: String) throws(TokenRejection) -> String {
        try Claimed(text).issuer
    }

    /// The claims of a statement whose signature is not verified yet.
    public struct Claimed: Sendable {
        public let issuer: String
        let message: CompactJWS
        let claims: Claims

        public init(_ text: String) throws(TokenRejection) {
            message = try CompactJWS(text, most: longestText)
            claims = try Claims(payload: message.payload)
            issuer = try claims.need(.issuer, claims.issuer)
        }
    }

    /// About a client: it is used as often as the client is installed, and is for everybody where it
    /// names no reader.
    public static func check(
        _ text: String, of issuer: String, for reader: String, keys: KeySet,
        algorithms: Set<Algorithm>, at now: Timestamp, leeway: Int64 = 30
    ) throws(TokenRejection) -> SignedStatement {
        let verified = try JWS.verify(
            text, by: keys,
            rules: JWS.Rules(
                algorithms: algorithms, types: TokenTypes(["JWT"], mayBeAbsent: true),
                longest: longestText))
        let claims = try Claims(payload: verified.payload)
        guard try claims.need(.issuer, claims.issuer).hasSameBytes(as: issuer) else {
            throw .wrongIssuer
        }
        // RFC 7519 section 4.1.3.
        if let audience = claims.audience, !ClaimRules.Audience.includes(reader).accepts(audience) {
            throw .wrongAudience
        }
        if let expiresAt = claims.expiresAt, now >= expiresAt.adding(seconds: leeway) {
            throw .expired
        }
        if let notBefore = claims.notBefore, notBefore > now.adding(seconds: leeway) {
            throw .notYetValid
        }
        return SignedStatement(issuer: issuer, claims: claims)
    }

    /// Checks an assertion about a person, for one reader and one use (RFC 7523 section 3). It is single-use
    /// until its end: until then the same assertion must be refused.
    public static func checkAssertion(
        _ claimed: Claimed, rules: ClaimRules, keys: KeySet, algorithms: Set<Algorithm>,
        at now: Timestamp
    ) throws(TokenRejection) -> (statement: SignedStatement, id: String, until: Timestamp) {
        _ = try JWS.verify(
            claimed.message, by: keys,
            rules: JWS.Rules(
                algorithms: algorithms, types: TokenTypes(["JWT"], mayBeAbsent: true),
                longest: longestText))
        let claims = claimed.claims
        let expiresAt = try rules.check(claims, at: now)
        _ = try claims.need(.subject, claims.subject)
        let id = try claims.need(.id, claims.id)
        guard id.utf8.count <= ClientAssertion.longestID else { throw .malformedClaim(.id) }
        return (
            SignedStatement(issuer: rules.issuer, claims: claims), id,
            expiresAt.adding(seconds: ClaimRules.bounded(rules.leeway))
        )
    }
}
