/// A certificate authority that is believed about passkeys, and in which statements: an authority that
/// vouches in one format has no say in another (WebAuthn Level 3, section 7.1, step 24).
public struct AttestationRoot: Sendable, Equatable {
    /// The attestation formats with a certificate chain.
    public static let formats = ["packed", "tpm", "android-key", "apple", "fido-u2f"]
    /// Of makers of authenticators, who have one root for both.
    private static let ofMakers = ["packed", "fido-u2f"]

    /// The attestation format; nil where the text names none.
    public let format: String?
    public let der: [UInt8]

    /// `format:certificate`, or the certificate alone; as PEM or in base 64, which have no colon.
    public init?(_ text: String) {
        var certificate = text
        var format: String?
        if let known = Self.formats.first(where: { text.utf8.starts(with: "\($0):".utf8) }) {
            format = known
            certificate = String(text.dropFirst(known.count + 1))
        }
        guard let der = CertificateText.der(certificate) else { return nil }
        self.format = format
        self.der = der
    }

    /// The formats that it is believed in. One that names none is of the only format that the realm
    /// takes, else of makers of authenticators.
    public func formats(of chosen: [String]) -> [String] {
        if let format { return [format] }
        return chosen.count == 1 ? chosen : Self.ofMakers
    }
}
