internal import Cryptography
public import JSON

/// A public key to encrypt to, as others publish it (RFC 7517).
public struct EncryptionKey: Sendable, Hashable {
    enum Material: Sendable, Hashable {
        case rsa(RS256.PublicKey)
        case p256(ES256.PublicKey)
    }

    let material: Material
    public let id: String?

    init(_ material: Material, id: String?) {
        self.material = material
        self.id = id
    }

    /// The kind of the key decides it.
    public var algorithm: JWE.KeyManagement {
        switch material {
        case .rsa: .rsaOAEP256
        case .p256: .ecdhES
        }
    }

    /// Refuses private keys, points off the curve, RSA keys of less than 2048 bits, and keys that say that
    /// they are for something else.
    public init(jwk: JSON) throws(JWKRejection) {
        guard case .object(let members) = jwk else { throw .malformed }
        // Reads the key itself, and says nothing of its use: what does is looked at here.
        var bare = members
        for name in ["use", "key_ops", "alg"] { bare[name] = nil }
        let key = try VerificationKey(jwk: .object(bare))
        switch key.material {
        case .rsa(let key): material = .rsa(key)
        case .p256(let key): material = .p256(key)
        case .p384, .ed25519: throw .unsupportedKey
        }
        id = key.id
        try checkUse(members)
    }

    private func checkUse(_ members: JSONObject) throws(JWKRejection) {
        if let use = members["use"] {
            guard let use = use.string else { throw .malformed }
            guard use == "enc" else { throw .notForEncryption }
        }
        if let operations = members["key_ops"] {
            guard let operations = operations.array else { throw .malformed }
            // RFC 7517 section 4.3.
            let demanded: [JSON] =
                switch algorithm {
                case .rsaOAEP256: ["encrypt", "wrapKey"]
                case .ecdhES: ["deriveKey", "deriveBits"]
                }
            guard demanded.contains(where: operations.contains) else { throw .notForEncryption }
        }
        if let name = members["alg"] {
            guard let name = name.string else { throw .malformed }
            guard name == algorithm.rawValue else { throw .wrongAlgorithm }
        }
    }

    /// The first key of a set that can be encrypted to by one of these algorithms; nil where none can.
    public static func first(
        in jwks: JSON, for algorithms: Set<JWE.KeyManagement> = Set(JWE.KeyManagement.allCases)
    ) -> EncryptionKey? {
        for jwk in (jwks["keys"]?.array ?? []).prefix(KeySet.mostKeys) {
            if let key = try? EncryptionKey(jwk: jwk), algorithms.contains(key.algorithm) {
                return key
            }
        }
        return nil
    }

    /// With `use` and `alg`.
    public var jwk: JSON {
        var members = publicPart.requiredMembers
        members["use"] = "enc"
        members["alg"] = .string(algorithm.rawValue)
        if let id { members["kid"] = .string(id) }
        return .object(members)
    }

    var publicPart: VerificationKey.Material {
        switch material {
        case .rsa(let key): .rsa(key)
        case .p256(let key): .p256(key)
        }
    }
}
