public import Cryptography
internal import JSON
public import Values

/// Google's SafetyNet: a signed verdict on an app and its device, which Google no longer issues.
/// Urd verifies it for apps that still have a source, where the setting is on.
public enum SafetyNet {
    /// Why a verdict is not believed, or not good enough. For logs alone.
    public enum Flaw: String, Error, Sendable, CaseIterable {
        case message
        case certificates
        case chain
        case host
        case signature
        case payload
        case nonce
        case package
        case digest
        case age
        case device
        case profile
    }

    /// What has to hold for every caller.
    public struct Rules: Sendable {
        /// Packages, each with the SHA-256 of the certificates that it may be signed with.
        public var apps: [String: Set<[UInt8]>]
        public var roots: [Certificate]
        /// Maximum age of a verdict in seconds.
        public var longestAge: Int64
        /// Whether the device has to pass Android's compatibility tests.
        public var demandsProfileMatch: Bool

        public init(
            apps: [String: Set<[UInt8]>], roots: [Certificate], longestAge: Int64,
            demandsProfileMatch: Bool
        ) {
            self.apps = apps
            self.roots = roots
            self.longestAge = longestAge
            self.demandsProfileMatch = demandsProfileMatch
        }
    }

    static let host = "attest.android.com"
    private static let longest = 32 << 10
    private static let commonName = "2.5.4.3"
    /// Clocks differ.
    private static let leeway: Int64 = 60

    /// The package that the verdict is about. `nonce` is what was asked to be in it.
    public static func verify(
        _ text: String, nonce: [UInt8], rules: Rules, at now: Timestamp
    ) throws(Flaw) -> String {
        guard text.utf8.count <= longest else { throw .message }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let head = Base64URL.decode(parts[0]),
            let header = try? JSON.parse(head), header["alg"] == "RS256", header["crit"] == nil,
            let payload = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2])
        else { throw .message }
        let leaf = try leaf(of: header["x5c"]?.array ?? [], rules.roots, at: now)
        guard leaf.subject(commonName) == [host] else { throw .host }
        guard let key = try? leaf.publicKey(), key.kind == .rsa,
            key.isValid(
                signature, for: Array("\(parts[0]).\(parts[1])".utf8), scheme: .rs256)
        else { throw .signature }
        guard let verdict = try? JSON.parse(payload) else { throw .payload }
        guard let named = verdict["nonce"]?.string.flatMap({ Base64.decode($0) }),
            constantTimeEqual(named, nonce)
        else { throw .nonce }
        guard let package = verdict["apkPackageName"]?.string, let digests = rules.apps[package]
        else { throw .package }
        // All that the app is signed with has to be known: one good name beside others proves nothing.
        let shown = verdict["apkCertificateDigestSha256"]?.array ?? []
        guard !shown.isEmpty,
            shown.allSatisfy({
                $0.string.flatMap { Base64.decode($0) }.map(digests.contains) ?? false
            })
        else { throw .digest }
        guard let milliseconds = verdict["timestampMs"]?.integer else { throw .age }
        let given = Timestamp(seconds: milliseconds / 1000)
        guard given <= now.adding(seconds: leeway), now <= given.adding(seconds: rules.longestAge)
        else { throw .age }
        guard verdict["basicIntegrity"] == true else { throw .device }
        guard !rules.demandsProfileMatch || verdict["ctsProfileMatch"] == true else {
            throw .profile
        }
        return package
    }

    private static func leaf(
        of texts: [JSON], _ roots: [Certificate], at now: Timestamp
    ) throws(Flaw) -> Certificate {
        guard (1...CertificateChain.maximumCount).contains(texts.count) else {
            throw .certificates
        }
        var certificates: [Certificate] = []
        for text in texts {
            guard let der = text.string.flatMap({ Base64.decode($0) }),
                let certificate = try? Certificate(der: der)
            else { throw .certificates }
            certificates.append(certificate)
        }
        do throws(CertificateChain.Flaw) {
            let chain = try CertificateChain(certificates)
            try chain.check(at: now.seconds)
            try chain.checkTrust(roots: roots, at: now.seconds)
        } catch {
            throw .chain
        }
        guard certificates[0].isAuthority != true else { throw .chain }
        return certificates[0]
    }
}
