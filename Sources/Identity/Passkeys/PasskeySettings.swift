/// Whether authenticators are asked to vouch for themselves.
public enum AttestationDemand: String, CaseIterable, Sendable {
    /// No attestation is requested; an attestation that comes all the same must be valid in itself.
    case none
    /// An attestation is requested, and required. Where roots are set, a statement must end at one of them.
    case direct
}

extension SettingCatalogue {
    public static let passkeyDomain = Declare.text(
        "webauthn_rp_id", .domain, perApp: true,
        "The domain that passkeys belong to, where it is not the primary domain")
    public static let passkeySubdomains = Declare.flag(
        "passkey_subdomains", true, perApp: true,
        "Whether passkeys may be used at every https sub-domain of their domain")
    public static let passkeyOrigins = Declare.texts(
        "passkey_origins", .origins(limit: 20), perApp: true,
        "Where passkeys may be used besides, such as android:apk-key-hash:…")
    public static let passkeyAttestation = Declare.choice(
        "passkey_attestation", AttestationDemand.none,
        "Whether authenticators must vouch for themselves")
    public static let passkeyAttestationFormats = Declare.texts(
        "passkey_attestation_formats", .selection(AttestationRoot.formats),
        "Attestation formats that are accepted; all by default")
    public static let passkeyAttestationRoots = Declare.texts(
        "passkey_attestation_roots", .attestationRoots(limit: 50),
        "Certificate authorities that may vouch for authenticators, each for one format "
            + "(apple:MII…); any by default")

    static let passkeys: [Setting] = [
        passkeyDomain.setting, passkeySubdomains.setting, passkeyOrigins.setting,
        passkeyAttestation.setting, passkeyAttestationFormats.setting,
        passkeyAttestationRoots.setting,
    ]
}
