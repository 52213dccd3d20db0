/// A signature scheme that a third party's key may use; ECDSA as ASN.1, as WebAuthn and X.509 have
/// it.
public enum SignatureScheme: Sendable, Hashable, CaseIterable {
    case es256, es384, es512
    case rs256, rs384, rs512
    case ps256, ps384, ps512
    case ed25519, ed448
    /// RSA with PKCS #1 v1.5 and SHA-1. Keys of this scheme cannot be registered; security chips
    /// attest with it to this day.
    case rs1

    /// What is hashed before it is signed; nil where the scheme hashes on its own.
    public var hash: HashFunction? {
        switch self {
        case .es256, .rs256, .ps256: .sha256
        case .es384, .rs384, .ps384: .sha384
        case .es512, .rs512, .ps512: .sha512
        case .rs1: .sha1
        case .ed25519, .ed448: nil
        }
    }

    var usesPSS: Bool {
        switch self {
        case .ps256, .ps384, .ps512: true
        case .es256, .es384, .es512, .rs256, .rs384, .rs512, .rs1, .ed25519, .ed448: false
        }
    }

    /// Whether a key of this kind can be meant by this scheme. The curve of ECDSA belongs to the
    /// scheme in COSE keys, but not in certificates: RFC 9053 section 2.1, RFC 5480.
    public func fits(_ kind: VerifyingKey.Kind) -> Bool {
        switch self {
        case .es256, .es384, .es512: [.p256, .p384, .p521].contains(kind)
        case .rs1, .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: kind == .rsa
        case .ed25519: kind == .ed25519
        case .ed448: kind == .ed448
        }
    }
}
