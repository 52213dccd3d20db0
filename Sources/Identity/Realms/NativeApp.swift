internal import Values

/// An app on phones that speaks for a realm's domain: its passkeys are the domain's, and links to the
/// domain open it. Written `ios:TEAMID.bundle` or `android:package:fingerprint`.
public enum NativeApp: Sendable, Equatable {
    /// Team and bundle, as Apple writes them together.
    case apple(String)
    /// The package, and SHA-256 of the certificate that signs it, in capital hexadecimal digits.
    case android(package: String, fingerprint: String)

    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        switch (parts.first, parts.count) {
        case ("ios", 2):
            let (team, bundle) = (parts[1].prefix(10), parts[1].dropFirst(10))
            guard team.utf8.count == 10, team.utf8.allSatisfy(isCapitalOrDigit),
                bundle.first == ".", Self.isName(bundle.dropFirst())
            else { return nil }
            self = .apple(String(parts[1]))
        case ("android", 3):
            let digits = parts[2].uppercased().filter { $0 != ":" }
            guard Self.isName(parts[1]), parts[1].contains("."), digits.utf8.count == 64,
                digits.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
            else { return nil }
            self = .android(package: String(parts[1]), fingerprint: digits)
        default: return nil
        }
    }

    /// Names of letters, digits, `-` and `_` with dots between them.
    private static func isName(_ text: Substring) -> Bool {
        text.utf8.count <= 155
            && text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                .allSatisfy { part in
                    !part.isEmpty
                        && part.allSatisfy { isLetterOrDigit($0) || $0 == 0x2D || $0 == 0x5F }
                }
    }
}

private func isCapitalOrDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
}

private func isLetterOrDigit(_ byte: UInt8) -> Bool {
    isCapitalOrDigit(byte) || (0x61...0x7A).contains(byte)
}
