public import Cryptography

/// A private key that is ready to sign, with the name and algorithm that its tokens carry.
///
/// Made once and kept: reading a key from PKCS #8 costs as much as several signatures.
public struct SigningKey: Sendable {
    private enum Material: Sendable {
        case es256(ES256.PrivateKey)
        case rs256(RS256.PrivateKey)
    }

    private let material: Material
    public let algorithm: SigningAlgorithm
    public let id: String
    public let verificationKey: VerificationKey
    /// The heads of the tokens that it signs again and again, by their type.
    let heads: [String: String]

    /// `id` nil names the key by its thumbprint.
    public static func generate(
        _ algorithm: SigningAlgorithm, id: String? = nil
    ) throws(Failure) -> SigningKey {
        switch algorithm {
        case .es256: SigningKey(.es256(try .generate()), id: id)
        case .rs256: SigningKey(.rs256(try .generate()), id: id)
        }
    }

    public init(
        pkcs8: SecretBytes, algorithm: SigningAlgorithm, id: String? = nil
    ) throws(Failure) {
        switch algorithm {
        case .es256: self.init(.es256(try ES256.PrivateKey(pkcs8: pkcs8)), id: id)
        case .rs256: self.init(.rs256(try RS256.PrivateKey(pkcs8: pkcs8)), id: id)
        }
    }

    private init(_ material: Material, id: String?) {
        let publicPart: VerificationKey.Material
        switch material {
        case .es256(let key):
            algorithm = .es256
            publicPart = .p256(key.publicKey)
        case .rs256(let key):
            algorithm = .rs256
            publicPart = .rsa(key.publicKey)
        }
        self.material = material
        self.id = id ?? publicPart.thumbprint
        verificationKey = VerificationKey(publicPart, id: self.id, signingWith: algorithm)
        heads = JWTType.allCases.reduce(into: [:]) { [id = self.id, algorithm] heads, type in
            heads[type.rawValue] = JWS.head(type.rawValue, of: id, algorithm)
        }
    }

    public func pkcs8() throws(Failure) -> SecretBytes {
        switch material {
        case .es256(let key): try key.pkcs8()
        case .rs256(let key): try key.pkcs8()
        }
    }

    func sign(_ message: [UInt8]) throws(Failure) -> [UInt8] {
        switch material {
        case .es256(let key): try key.sign(message)
        case .rs256(let key): try key.sign(message)
        }
    }
}
