/// Which clients may register themselves (RFC 7591).
public enum ClientRegistration: String, CaseIterable, Sendable {
    /// None: whoever manages the realm registers them.
    case closed
    /// Those that somebody who manages the realm gave a token to.
    case initialAccessToken = "initial_access_token"
    /// Those whose maker is trusted, and says of them what they are; and those with a token.
    case softwareStatement = "software_statement"
    /// Whoever likes to.
    case open
}
