/// The kinds of JWT that a realm's keys sign. Each has a `typ` of its own, and every verifier
/// requires it: a token signed for one purpose serves no other (RFC 8725 sections 3.11 and 3.12).
/// The whole table, with all readers, is in `docs/tokens.md`.
public enum JWTType: String, CaseIterable, Sendable {
    /// OpenID Connect defines none, and libraries of clients know no other.
    case idToken = "JWT"
    /// RFC 9068.
    case accessToken = "at+jwt"
    /// OpenID Connect Core section 5.3.2 defines none.
    case userInfo = "userinfo+jwt"
    /// RFC 9701.
    case introspection = "token-introspection+jwt"
    /// OpenID Connect Back-Channel Logout 1.0.
    case logoutToken = "logout+jwt"
    /// RFC 8417.
    case securityEvent = "secevent+jwt"
    /// Those of the verify profile: see `TenantToken`. Its clients look at no `typ`.
    case tenantAccessToken = "verify-access+jwt"
    case tenantIDToken = "verify-id+jwt"
    /// By which the app of the federation profile shows a person to a service.
    case federationAssertion = "federation-assertion+jwt"
}
