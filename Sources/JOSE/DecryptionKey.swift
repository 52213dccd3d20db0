public import Cryptography

/// A private key that opens what others encrypt to its public part.
public struct DecryptionKey: Sendable {
    enum Material: Sendable {
        case rsa(RS256.PrivateKey)
        case p256(ES256.PrivateKey)
    }

    let material: Material
    public let id: String

    /// `id` nil names the key by its thumbprint.
    public static func generate(
        _ algorithm: JWE.KeyManagement, id: String? = nil
    ) throws(Failure) -> DecryptionKey {
        switch algorithm {
        case .rsaOAEP256: DecryptionKey(.rsa(try .generate()), id: id)
        case .ecdhES: DecryptionKey(.p256(try .generate()), id: id)
        }
    }

    public init(
        pkcs8: SecretBytes, algorithm: JWE.KeyManagement, id: String? = nil
    ) throws(Failure) {
        switch algorithm {
        case .rsaOAEP256: self.init(.rsa(try RS256.PrivateKey(pkcs8: pkcs8)), id: id)
        case .ecdhES: self.init(.p256(try ES256.PrivateKey(pkcs8: pkcs8)), id: id)
        }
    }

    private init(_ material: Material, id: String?) {
        self.material = material
        let part = Self.publicMaterial(material)
        self.id = id ?? EncryptionKey(part, id: nil).publicPart.thumbprint
    }

    public var algorithm: JWE.KeyManagement { encryptionKey.algorithm }

    /// For others to encrypt to.
    public var encryptionKey: EncryptionKey {
        EncryptionKey(Self.publicMaterial(material), id: id)
    }

    public func pkcs8() throws(Failure) -> SecretBytes {
        switch material {
        case .rsa(let key): try key.pkcs8()
        case .p256(let key): try key.pkcs8()
        }
    }

    private static func publicMaterial(_ material: Material) -> EncryptionKey.Material {
        switch material {
        case .rsa(let key): .rsa(key.publicKey)
        case .p256(let key): .p256(key.publicKey)
        }
    }
}
