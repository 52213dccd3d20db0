/// Which clients may register themselves (RFC 7591).
public enum ClientRegistration: String, CaseIterable, Sendable {
    /// None: an administrator of the realm registers them.
    case closed
    /// Clients with an initial access token from an administrator of the realm.
    case initialAccessToken = "initial_access_token"
    /// Those whose maker is trusted, and says of them what they are; and those with a token.
    case softwareStatement = "software_statement"
    /// Any client.
    case open
}
