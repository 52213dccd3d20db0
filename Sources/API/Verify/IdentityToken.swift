internal import Cryptography
internal import JSON
internal import Synchronization
internal import Values

/// What older clients of the profile are told of an address that was proved: a few texts, signed with Ed25519
/// under a key of the realm that signs nothing else.
struct IdentityToken {
    /// Lifetime of the token in seconds.
    private static let lifetime: Int64 = 3_600

    static func make(
        of person: VerifiedPerson, identifier: String, for apiKey: String, by mint: TokenMint,
        at now: Timestamp
    ) throws(Problem) -> JSON {
        let expiry = String(now.adding(seconds: lifetime).seconds)
        let message = person.address + person.kind + apiKey + expiry
        guard let key = mint.identityKey,
            let signature = try? key.sign(Array(message.utf8))
        else { throw Problem(.internalError) }
        return [
            "identifier_id": .string(identifier), "identifier": .string(person.address),
            "identifier_type": .string(person.kind), "receiver": .string(apiKey),
            "expire_at": .string(expiry), "timestamp": .string(now.description),
            "signature": .string(Base64.encode(signature)),
        ]
    }
}

extension TokenMint {
    /// The key that signs identity tokens now.
    var identityKey: Ed25519.PrivateKey? {
        let seed = derive(.identitySignature, [])
        if let known = readyKeys.withLock({ $0.value(of: seed) }) { return known }
        guard let key = try? Ed25519.PrivateKey(seed: SecretBytes(seed)) else { return nil }
        readyKeys.withLock { $0.set(key, for: seed) }
        return key
    }

    /// The keys that verify presented identity tokens: the one in use first.
    var identityKeys: [Ed25519.PublicKey] {
        var keys: [Ed25519.PublicKey] = []
        _ = version { mint in
            if let key = mint.identityKey { keys.append(key.publicKey) }
            return false
        }
        return keys
    }
}

/// To read one costs as much as several signatures.
private let readyKeys = Mutex(LeastRecent<[UInt8], Ed25519.PrivateKey>(capacity: 256))
