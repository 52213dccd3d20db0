/// A host as it stands in a request's `Host` header: lower case, IDN labels in their ASCII form, a
/// port only where it is not the scheme's own.
public struct HostName: Hashable, Sendable, CustomStringConvertible {
    public let text: String

    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        let name = bytes.prefix { $0 != 0x3A }
        guard (1...253).contains(name.count),
            name.split(separator: 0x2E, omittingEmptySubsequences: false).allSatisfy(Self.isLabel)
        else { return nil }
        if name.count < bytes.count {
            // Clients leave these out of the header: such an entry would never be found.
            guard let port = Self.port(bytes[(name.count + 1)...]), port != 443, port != 80 else {
                return nil
            }
        }
        self.text = text
    }

    public var description: String { text }

    static func isLabel(_ label: some Collection<UInt8>) -> Bool {
        let bytes = Array(label)
        guard (1...63).contains(bytes.count), bytes.first != 0x2D, bytes.last != 0x2D,
            bytes.allSatisfy({
                (0x61...0x7A).contains($0) || TextRule.isDigit($0) || $0 == 0x2D
            })
        else { return false }
        // Two hyphens in this place are reserved (RFC 5890); only IDN labels may have them.
        return bytes.count < 4 || bytes[2] != 0x2D || bytes[3] != 0x2D
            || bytes.starts(with: "xn--".utf8) && bytes.count > 4
    }

    static func port(_ digits: some Collection<UInt8>) -> UInt16? {
        guard (1...5).contains(digits.count), digits.allSatisfy(TextRule.isDigit),
            digits.first != 0x30
        else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self))
    }
}
