public import Cryptography
internal import JSON
public import Values

/// Google's Play Integrity: an encrypted and signed verdict on an app and the device that it runs on.
public enum PlayIntegrity {
    /// Why a verdict is not believed, or not good enough. For logs alone.
    public enum Flaw: String, Error, Sendable, CaseIterable {
        case encryption
        case signature
        case payload
        case nonce
        case package
        case age
        case recognition
        case digest
        case device
        case license
    }

    /// The rules that hold for every request.
    public struct Rules: Sendable {
        /// Packages, each with the SHA-256 of the certificates that it may be signed with.
        public var apps: [String: Set<[UInt8]>]
        public var decryptionKeys: [SecretBytes]
        public var verificationKeys: KeySet
        /// Maximum age of a verdict in seconds.
        public var longestAge: Int64
        /// The verdicts that Google has to give beside that.
        public var demands: Set<String>

        public init(
            apps: [String: Set<[UInt8]>], decryptionKeys: [SecretBytes],
            verificationKeys: KeySet, longestAge: Int64, demands: Set<String> = []
        ) {
            self.apps = apps
            self.decryptionKeys = decryptionKeys
            self.verificationKeys = verificationKeys
            self.longestAge = longestAge
            self.demands = demands
        }
    }

    /// Verdicts of this kind are about the device; the others have a place of their own.
    private static let ofDevice = "MEETS_"
    private static let recognized = "PLAY_RECOGNIZED"
    private static let licensed = "LICENSED"
    /// Clocks differ.
    private static let leeway: Int64 = 60

    /// The package that the verdict is about, in the order of Google's own advice: open, verify, then
    /// what was asked, then the app, then the device.
    public static func verify(
        _ text: String, nonce: String, rules: Rules, at now: Timestamp
    ) throws(Flaw) -> String {
        guard let inner = try? CompactJWE.open(text, keys: rules.decryptionKeys),
            let signed = String(validating: inner, as: UTF8.self)
        else { throw .encryption }
        guard
            let message = try? JWS.verify(
                signed, by: rules.verificationKeys,
                rules: JWS.Rules(
                    algorithms: [.es256], types: TokenTypes(["JWT"], mayBeAbsent: true),
                    longest: CompactJWE.longestText))
        else { throw .signature }
        guard let verdict = try? JSON.parse(message.payload),
            let asked = verdict["requestDetails"]?.object,
            let app = verdict["appIntegrity"]?.object
        else { throw .payload }
        guard let named = asked["nonce"]?.string, named.hasSameBytes(as: nonce) else {
            throw .nonce
        }
        guard let package = asked["requestPackageName"]?.string, let digests = rules.apps[package]
        else { throw .package }
        try checkAge(asked["timestampMillis"] ?? .null, rules.longestAge, at: now)
        if rules.demands.contains(recognized) {
            guard app["appRecognitionVerdict"] == .string(recognized) else { throw .recognition }
        }
        guard app["packageName"] == .string(package) else { throw .package }
        // All that the app is signed with has to be known: one good name beside others proves nothing.
        let shown = app["certificateSha256Digest"]?.array ?? []
        guard !shown.isEmpty,
            shown.allSatisfy({ $0.string.flatMap(digest).map(digests.contains) ?? false })
        else { throw .digest }
        let device = verdict["deviceIntegrity"]?["deviceRecognitionVerdict"]?.array ?? []
        for demand in rules.demands.sorted() where demand.utf8.starts(with: ofDevice.utf8) {
            guard device.contains(.string(demand)) else { throw .device }
        }
        if rules.demands.contains(licensed) {
            guard verdict["accountDetails"]?["appLicensingVerdict"] == .string(licensed) else {
                throw .license
            }
        }
        return package
    }

    /// Google writes the number as a text.
    private static func checkAge(
        _ value: JSON, _ longest: Int64, at now: Timestamp
    ) throws(Flaw) {
        guard let milliseconds = value.integer ?? value.string.flatMap({ Int64($0) }) else {
            throw .age
        }
        let given = Timestamp(seconds: milliseconds / 1000)
        guard given <= now.adding(seconds: leeway), now <= given.adding(seconds: longest) else {
            throw .age
        }
    }

    /// In either alphabet, with or without padding.
    static func digest(_ text: String) -> [UInt8]? {
        let plain = String(
            decoding: text.utf8.compactMap { byte -> UInt8? in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                case UInt8(ascii: "="): nil
                default: byte
                }
            }, as: UTF8.self)
        guard let bytes = Base64URL.decode(plain), bytes.count == 32 else { return nil }
        return bytes
    }
}
