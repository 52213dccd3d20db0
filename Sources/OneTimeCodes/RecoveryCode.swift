internal import Cryptography

/// A code that its owner writes down, for the day when the telephone is gone.
///
/// Twelve of 32 signs are 60 bits: out of reach for guessing, even for a thief of a table of
/// plain hashes. The signs are Crockford's: none is mistaken for another, and what is mistaken for
/// one of them is read as it.
public struct RecoveryCode: Sendable, Hashable {
    public static let countOfASet = 10
    static let length = 12
    static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// Without hyphens, as it is hashed and compared.
    public let plain: String

    /// As it is shown: groups of four.
    public var text: String {
        let signs = Array(plain.utf8)
        return stride(from: 0, to: signs.count, by: 4)
            .map { String(decoding: signs[$0..<min($0 + 4, signs.count)], as: UTF8.self) }
            .joined(separator: "-")
    }

    /// Ten different recovery codes.
    public static func generateSet() -> [RecoveryCode] {
        var random = SystemRandom()
        return generateSet(using: &random)
    }

    static func generateSet(using random: inout some RandomNumberGenerator) -> [RecoveryCode] {
        var codes: [RecoveryCode] = []
        while codes.count < countOfASet {
            let code = RecoveryCode(bits: random.next())
            if !codes.contains(code) { codes.append(code) }
        }
        return codes
    }

    /// Of the lowest 60 bits. 32 divides 2^64, so that every sign is as likely as any other.
    public init(bits: UInt64) {
        let signs = (0..<Self.length).map { Self.alphabet[Int(bits >> UInt64(5 * $0) & 31)] }
        plain = String(decoding: signs, as: UTF8.self)
    }

    /// What a person typed: in either case, with hyphens and spaces of any kind or none, O for zero,
    /// I and L for one. Nil when it can't be a code.
    public init?(typed input: String) {
        guard input.utf8.count <= 128 else { return nil }
        var signs: [UInt8] = []
        for scalar in input.unicodeScalars {
            if Self.isSeparator(scalar) { continue }
            guard let sign = Self.sign(of: scalar), signs.count < Self.length else { return nil }
            signs.append(sign)
        }
        guard signs.count == Self.length else { return nil }
        plain = String(decoding: signs, as: UTF8.self)
    }

    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.generalCategory == .dashPunctuation
            || scalar == "\u{2212}"
    }

    private static func sign(of scalar: Unicode.Scalar) -> UInt8? {
        guard scalar.isASCII else { return nil }
        let byte = UInt8(scalar.value)
        let upper = (0x61...0x7A).contains(byte) ? byte - 0x20 : byte
        switch upper {
        case UInt8(ascii: "O"): return UInt8(ascii: "0")
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return UInt8(ascii: "1")
        default: return alphabet.contains(upper) ? upper : nil
        }
    }
}
