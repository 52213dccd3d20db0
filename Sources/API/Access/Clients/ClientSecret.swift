internal import Cryptography
internal import Identity
internal import Values

/// The secret that a write would give to a client.
struct ClientSecret: Sendable {
    let text: String
    let digest: SecretDigest

    /// The digest is of the text as the client will send it.
    init?(_ bytes: [UInt8]) {
        text = Base64URL.encode(bytes)
        guard bytes.count == 32, let digest = SecretDigest(SHA256.hash(Array(text.utf8))) else {
            return nil
        }
        self.digest = digest
    }
}

extension TokenMint {
    /// The secrets that follow from a command under each key, that of the one in use first.
    func clientSecrets(of command: UUID) -> [ClientSecret] {
        var secrets: [ClientSecret] = []
        _ = version { mint in
            if let secret = ClientSecret(mint.derive(.clientSecret, command.bytes)) {
                secrets.append(secret)
            }
            return false
        }
        return secrets
    }
}
