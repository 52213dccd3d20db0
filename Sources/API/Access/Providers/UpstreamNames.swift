internal import Cryptography
internal import Identity
internal import Values

extension TokenMint {
    /// The stream of an identity at a provider. Neither part can run into the other.
    func identity(_ subject: String, at issuer: String) -> UUID {
        .v8(derive(.providerIdentity, SHA256.hash(Array(issuer.utf8)) + Array(subject.utf8)))
    }

    /// The stream of a provider's session.
    func upstreamSession(_ name: String, at issuer: String) -> UUID {
        .v8(derive(.providerSession, SHA256.hash(Array(issuer.utf8)) + Array(name.utf8)))
    }

    /// The stream of who an account is at a provider.
    func accountIdentity(_ account: UUID, at provider: String) -> UUID {
        .v8(derive(.accountIdentity, account.bytes + Array(provider.utf8)))
    }

    /// The stream of what a provider signed for an app.
    func use(ofToken text: String) -> UUID {
        .v8(derive(.providerToken, Array(text.utf8)))
    }
}
