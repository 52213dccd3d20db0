public import Values

/// How a person signs in within a tenant's app beside a code: by what only they know, or by a key that one of
/// their devices has.
public enum TenantMethod: String, CaseIterable, Sendable {
    case pin = "PIN"
    /// The device lets its key be used by whom it knows by finger or face.
    case biometric = "BIOMETRIC"
    case trustedDevice = "TRUSTED_DEVICE"

    var factor: AuthenticationFactor {
        switch self {
        case .pin: .pin
        case .biometric: .biometric
        case .trustedDevice: .deviceKey
        }
    }

    public var isKey: Bool { self != .pin }
}

/// How a session was opened where the grant does not say it: within a tenant's own app, without a grant of OAuth, or
/// by an assertion of SAML, which is redeemed as one of JWT is. For the record.
public enum AppSignInMethod: String, CaseIterable, Sendable {
    case pin = "app_pin"
    /// A device signed.
    case key = "app_key"
    /// As on pages.
    case passkey
    case saml = "urn:ietf:params:oauth:grant-type:saml2-bearer"

    init(_ method: TenantMethod) { self = method.isKey ? .key : .pin }

    /// The grant in whose place the method stands on record.
    var grant: GrantType { self == .saml ? .jwtBearer : .authorizationCode }
}

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
