internal import Cryptography
internal import Identity
internal import ReadModels
internal import Values

extension TokenMint {
    /// The secrets of a client that messages are signed by, one for each key that they may be derived from: they
    /// follow from the client and how often it got another secret, so that they are had again and stored
    /// nowhere.
    func sharedKeys(of client: UUID, rotation: UInt32) -> [ClientSecret] {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: rotation >> (24 - 8 * $0)) }
        var keys: [ClientSecret] = []
        _ = version { mint in
            if let key = ClientSecret(mint.derive(.sharedKey, client.bytes + bytes)) {
                keys.append(key)
            }
            return false
        }
        return keys
    }
}

extension RealmContext {
    /// The key that the client signs messages by (HS256), if it is a client with such a key. Nil too where its
    /// secret was given before it had a profile with keys: another secret mends that.
    func sharedKey(of client: KnownClient) async throws(Problem) -> ClientSecret? {
        guard client.metadata.rules.hasSharedKey, let digest = client.secret else { return nil }
        // Most never had another secret.
        if let key = mint.sharedKeys(of: client.id, rotation: 0).first(where: {
            $0.digest == digest
        }) {
            return key
        }
        let rotations = try await RealmLookups(self).folded(Client.self, client.id).secretRotations
        return mint.sharedKeys(of: client.id, rotation: rotations).first { $0.digest == digest }
    }
}
