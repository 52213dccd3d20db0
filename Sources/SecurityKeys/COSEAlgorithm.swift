public import Cryptography

/// The signature algorithms that a key may be registered for, by their numbers in COSE's registry.
public enum COSEAlgorithm: Int, Sendable, Hashable, CaseIterable {
    case es256 = -7
    case es384 = -35
    case es512 = -36
    case eddsa = -8
    case ed25519 = -19
    case ed448 = -53
    case rs256 = -257
    case rs384 = -258
    case rs512 = -259
    case ps256 = -37
    case ps384 = -38
    case ps512 = -39
    /// With SHA-1: in attestations alone, where chips still use it.
    case rs1 = -65535

    /// What nearly every authenticator has one of.
    public static let usual: [Int] = [es256.rawValue, eddsa.rawValue, rs256.rawValue]

    public var scheme: SignatureScheme {
        switch self {
        case .es256: .es256
        case .es384: .es384
        case .es512: .es512
        case .eddsa, .ed25519: .ed25519
        case .ed448: .ed448
        case .rs256: .rs256
        case .rs384: .rs384
        case .rs512: .rs512
        case .ps256: .ps256
        case .ps384: .ps384
        case .ps512: .ps512
        case .rs1: .rs1
        }
    }
}
