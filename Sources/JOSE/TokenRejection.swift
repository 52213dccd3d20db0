/// Why a token is not accepted.
///
/// For our own records: the sender of the token learns only that it was rejected.
public enum TokenRejection: Error, Hashable, Sendable {
    /// Longer than the reader of this kind of token takes.
    case tooLarge
    /// Not three strict Base64url parts with a JSON object each in the first two.
    case malformed
    /// `alg` is missing, unknown, or not among those that the caller allows.
    case algorithmNotAllowed
    /// The header asks for something that must be understood and isn't: `crit`, `b64`, `enc`, `zip`.
    case unsupportedHeader
    /// `typ` is not one of those that this use demands.
    case wrongType
    /// No key, or more than one, fits the header.
    case unknownKey
    case badSignature
    case missing(ClaimName)
    /// The claim is there, but has not the shape that its definition gives it.
    case malformedClaim(ClaimName)
    case wrongIssuer
    case wrongSubject
    case wrongAudience
    case wrongClient
    case wrongNonce
    case wrongAccessTokenHash
    case expired
    case notYetValid
    case issuedInTheFuture
    /// The token expires before its issue time, or has a longer lifetime than this use allows.
    case unreasonableLifetime
}

/// The claims that this module knows by name.
public enum ClaimName: String, Sendable, Hashable, CaseIterable {
    case issuer = "iss"
    case subject = "sub"
    case audience = "aud"
    case expiresAt = "exp"
    case notBefore = "nbf"
    case issuedAt = "iat"
    case id = "jti"
    case clientID = "client_id"
    case scope
    case authenticatedAt = "auth_time"
    case authenticationContext = "acr"
    case authenticationMethods = "amr"
    case nonce
    case accessTokenHash = "at_hash"
    case authorizedParty = "azp"
    case method = "htm"
    case address = "htu"
    case tokenHash = "ath"
}
