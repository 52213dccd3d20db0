public import Values

/// What a reader demands of the claims that every token has. The clock is the caller's.
public struct ClaimRules: Sendable, Hashable {
    /// There is no case for "any": a token that is not checked for its reader belongs to everybody
    /// (RFC 8725 section 3.9).
    public enum Audience: Sendable, Hashable {
        /// This one is among those that the token names.
        case includes(String)
        /// The token names exactly one, and it is one of these.
        case isOnly(Set<String>)

        func accepts(_ audience: [String]) -> Bool {
            switch self {
            case .includes(let reader):
                audience.contains { $0.hasSameBytes(as: reader) }
            case .isOnly(let readers):
                audience.count == 1
                    && readers.contains { reader in
                        audience.allSatisfy { $0.hasSameBytes(as: reader) }
                    }
            }
        }
    }

    public var issuer: String
    /// For what says whose it is in another way; who is named all the same has to be the issuer.
    public var mayLackIssuer: Bool
    public var audience: Audience
    /// How far the clocks may be apart, in seconds; 0 to 300.
    public var leeway: Int64
    /// In seconds. Nil takes any lifetime: for tokens whose issuer is trusted to choose it.
    public var longestLifetime: Int64?

    public init(
        issuer: String, mayLackIssuer: Bool = false, audience: Audience, leeway: Int64 = 30,
        longestLifetime: Int64? = nil
    ) {
        self.issuer = issuer
        self.mayLackIssuer = mayLackIssuer
        self.audience = audience
        self.leeway = leeway
        self.longestLifetime = longestLifetime
    }

    static func bounded(_ leeway: Int64) -> Int64 { min(max(leeway, 0), 300) }

    /// Returns the instant of expiry, which every token must have.
    @discardableResult
    public func check(_ claims: Claims, at now: Timestamp) throws(TokenRejection) -> Timestamp {
        if claims.issuer != nil || !mayLackIssuer {
            guard try claims.need(.issuer, claims.issuer).hasSameBytes(as: issuer) else {
                throw .wrongIssuer
            }
        }
        guard audience.accepts(try claims.need(.audience, claims.audience)) else {
            throw .wrongAudience
        }
        let expiresAt = try claims.need(.expiresAt, claims.expiresAt)
        let leeway = Self.bounded(leeway)
        guard now < expiresAt.adding(seconds: leeway) else { throw .expired }
        let latest = now.adding(seconds: leeway)
        if let notBefore = claims.notBefore, notBefore > latest { throw .notYetValid }
        if let issuedAt = claims.issuedAt {
            guard issuedAt <= latest else { throw .issuedInTheFuture }
            guard issuedAt <= expiresAt else { throw .unreasonableLifetime }
        }
        if let longestLifetime {
            // Counted from `iat` and from now, because `iat` is the sender's to choose or leave out.
            let last = min(claims.issuedAt ?? latest, latest).adding(seconds: longestLifetime)
            guard expiresAt <= last else { throw .unreasonableLifetime }
        }
        return expiresAt
    }
}
