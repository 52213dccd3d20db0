public import Cryptography

/// A public key with everything that binds its use: what it may verify, and its name.
public struct VerificationKey: Sendable, Hashable {
    public enum Material: Sendable, Hashable {
        case p256(ES256.PublicKey)
        case p384(ES384.PublicKey)
        case rsa(RS256.PublicKey)
        case ed25519(Ed25519.PublicKey)

        /// What a key of this kind can verify when nothing narrows it.
        public var algorithms: Set<Algorithm> {
            switch self {
            case .p256: [.es256]
            case .p384: [.es384]
            case .rsa: [.rs256, .ps256]
            case .ed25519: [.edDSA, .ed25519]
            }
        }
    }

    public let material: Material
    public let id: String?
    /// One, when the key says so itself; a key without `alg` leaves the choice to who uses it.
    public let algorithms: Set<Algorithm>

    /// Nil when a key of this kind cannot verify that algorithm.
    public init?(_ material: Material, id: String? = nil, algorithm: Algorithm? = nil) {
        if let algorithm {
            guard material.algorithms.contains(algorithm) else { return nil }
            algorithms = [algorithm]
        } else {
            algorithms = material.algorithms
        }
        self.material = material
        self.id = id
    }

    init(_ material: Material, id: String, signingWith algorithm: SigningAlgorithm) {
        self.material = material
        self.id = id
        algorithms = [algorithm.verification]
    }

    /// False for bytes that are not this key's signature by this algorithm. The kind of the key
    /// decides how it is checked, never the token: only an RSA key has more than one way, and it
    /// must have been made for the one that is asked for.
    func isValid(_ signature: [UInt8], for message: [UInt8], by algorithm: Algorithm) -> Bool {
        guard algorithms.contains(algorithm) else { return false }
        switch material {
        case .p256(let key): return key.isValid(signature, for: message)
        case .p384(let key): return key.isValid(signature, for: message)
        case .ed25519(let key): return key.isValid(signature, for: message)
        case .rsa(let key):
            switch algorithm {
            case .rs256: return key.isValid(signature, for: message)
            case .ps256: return key.isValidPSS(signature, for: message)
            case .es256, .es384, .edDSA, .ed25519: return false
            }
        }
    }
}
