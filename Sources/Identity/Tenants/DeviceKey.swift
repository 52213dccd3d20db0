public import Values

/// What a device signs with.
public enum DeviceKeyAlgorithm: String, CaseIterable, Sendable {
    case ed25519 = "ED25519"
    /// On P-256, with SHA-256.
    case ecdsa = "ECDSA"
    /// With SHA-256, by PKCS #1 version 1.5.
    case rsa = "RSA"
}

/// The public key of a device that a person signs in with.
public struct DeviceKey: Sendable, Equatable {
    public var id: UUID
    public var method: TenantMethod
    public var algorithm: DeviceKeyAlgorithm
    /// In its one encoding: 32 bytes of Ed25519, the SubjectPublicKeyInfo of P-256 and RSA.
    public var publicKey: [UInt8]
    /// What the app calls the device. Nil too where its person is erased.
    public var deviceType: String?
    public var deviceName: String?
    public var enrolledAt: Timestamp
    /// The key of the device that let it in, if one did.
    public var approvedBy: UUID?

    public init(
        id: UUID, method: TenantMethod, algorithm: DeviceKeyAlgorithm, publicKey: [UInt8],
        deviceType: String? = nil, deviceName: String? = nil, enrolledAt: Timestamp,
        approvedBy: UUID? = nil
    ) {
        self.id = id
        self.method = method
        self.algorithm = algorithm
        self.publicKey = publicKey
        self.deviceType = deviceType
        self.deviceName = deviceName
        self.enrolledAt = enrolledAt
        self.approvedBy = approvedBy
    }
}
