internal import Identity
internal import Values

/// Tokens around registration: each is a name and its keyed digest, so that none has to be kept.
extension TokenMint {
    /// By which clients register themselves.
    func initialAccessToken(_ id: UUID) -> String { write(id.bytes, .initialAccessToken) }

    func readInitialAccessToken(_ text: String) -> UUID? {
        read(text, .initialAccessToken, length: 16).flatMap { UUID(bytes: $0) }
    }

    /// By which a client that registered itself looks after its registration (RFC 7592).
    func registrationAccessToken(ofClient client: UUID) -> String {
        write(client.bytes, .registrationAccessToken)
    }

    func readRegistrationAccessToken(_ text: String) -> UUID? {
        read(text, .registrationAccessToken, length: 16).flatMap { UUID(bytes: $0) }
    }
}
