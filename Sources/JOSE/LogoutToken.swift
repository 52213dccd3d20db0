internal import JSON
public import Values

/// What a provider tells its clients of a session that is over (OpenID Connect Back-Channel Logout 1.0).
public struct LogoutToken: Sendable, Hashable {
    public let subject: String?
    public let session: String?
    public let id: String
    /// From then on it is refused, however far the clocks are apart.
    public let expiresAt: Timestamp

    static let event = "http://schemas.openid.net/event/backchannel-logout"

    /// Section 2.6. A token with a nonce is an ID token presented as a logout token.
    public static func check(
        _ text: String, keys: KeySet, issuer: String, clientID: String, at now: Timestamp,
        leeway: Int64 = 30, algorithms: Set<Algorithm>
    ) throws(TokenRejection) -> LogoutToken {
        let verified = try JWS.verify(
            text, by: keys,
            rules: JWS.Rules(
                algorithms: algorithms,
                types: TokenTypes(["logout+jwt", "JWT"], mayBeAbsent: true)))
        let claims = try Claims(payload: verified.payload)
        let rules = ClaimRules(issuer: issuer, audience: .includes(clientID), leeway: leeway)
        let expiresAt = try rules.check(claims, at: now)
        _ = try claims.need(.issuedAt, claims.issuedAt)
        guard claims.members["nonce"] == nil, claims.members["events"]?[event]?.object != nil
        else { throw .malformed }
        let session = claims.members["sid"]?.string
        guard session != nil || claims.subject != nil else { throw .malformed }
        let id = try claims.need(.id, claims.id)
        guard (1...255).contains(id.utf8.count) else { throw .malformedClaim(.id) }
        return LogoutToken(
            subject: claims.subject, session: session, id: id,
            expiresAt: expiresAt.adding(seconds: leeway))
    }
}
