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
