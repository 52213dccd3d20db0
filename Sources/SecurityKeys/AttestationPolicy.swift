public import Cryptography

/// How an authenticator may vouch for the key that it made (section 8); spelled as on the wire.
public enum AttestationFormat: String, Sendable, Hashable, CaseIterable {
    case none, packed, tpm, apple
    case androidKey = "android-key"
    case fidoU2F = "fido-u2f"
}

/// Who stands behind an attestation (section 6.5.3).
public enum AttestationKind: String, Sendable, Hashable, CaseIterable {
    case none
    /// The credential's own key: it proves nothing but that the key works.
    case selfSigned = "self"
    /// The maker of the authenticator, with a key of many devices, or of this one.
    case basic
    /// An authority that knows the security chip.
    case attestationAuthority = "attca"
    /// An authority that signs for each credential anew.
    case anonymizationAuthority = "anonca"
}

/// What a realm wants of attestations.
public struct AttestationPolicy: Sendable {
    public var formats: Set<AttestationFormat>
    public var acceptsSelf: Bool
    /// Whether a statement is enough whose chain ends at no known root. Its signatures are checked
    /// all the same.
    public var acceptsUntrusted: Bool
    /// Whom we trust, for each format.
    public var roots: [AttestationFormat: [Certificate]]
    /// The models (AAGUID) that are let in; nil for all.
    public var models: Set<[UInt8]>?
    /// Whether Android must keep the key in hardware: then nothing counts that the operating system
    /// says on its own.
    public var demandsTrustedHardware: Bool
    /// U2F knows no models, and FIDO's conformance rules refuse one that names some; the test
    /// vectors of WebAuthn Level 3 name one.
    public var acceptsModelInU2F: Bool

    public init(
        formats: Set<AttestationFormat> = Set(AttestationFormat.allCases),
        acceptsSelf: Bool = true, acceptsUntrusted: Bool = true,
        roots: [AttestationFormat: [Certificate]] = [:], models: Set<[UInt8]>? = nil,
        demandsTrustedHardware: Bool = false, acceptsModelInU2F: Bool = false
    ) {
        self.formats = formats
        self.acceptsSelf = acceptsSelf
        self.acceptsUntrusted = acceptsUntrusted
        self.roots = roots
        self.models = models
        self.demandsTrustedHardware = demandsTrustedHardware
        self.acceptsModelInU2F = acceptsModelInU2F
    }

    /// What a relying party wants that asks for no attestation: every format, each correct in
    /// itself, none believed.
    public static let unasked = AttestationPolicy()

    /// Only makers that we know.
    public static func trusted(_ roots: [AttestationFormat: [Certificate]]) -> AttestationPolicy {
        AttestationPolicy(
            formats: Set(roots.keys).subtracting([.none]), acceptsSelf: false,
            acceptsUntrusted: false, roots: roots)
    }
}
