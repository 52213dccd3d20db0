public import Cryptography
internal import Values

/// One-time codes from a secret and the clock (RFC 6238), as every authenticator app makes them:
/// SHA-1, six digits, 30 seconds. Other variants exist on paper; apps ignore that they were asked
/// for and show wrong codes.
public struct TOTP: Sendable {
    public static let digits = 6
    public static let period: Int64 = 30
    /// As long as the hash, which RFC 4226 section 4 recommends; half of it is the least that counts.
    public static let secretLength = 20
    static let shortestSecret = 16
    static let longestSecret = 128

    public let secret: SecretBytes

    /// Nil for a secret that RFC 4226 calls too short, or an absurdly long one.
    public init?(secret: SecretBytes) {
        guard (Self.shortestSecret...Self.longestSecret).contains(secret.count) else {
            return nil
        }
        self.secret = secret
    }

    private init(new secret: SecretBytes) { self.secret = secret }

    public static func generate() -> TOTP { TOTP(new: .random(secretLength)) }

    /// The number of the period that `second` (since 1970) lies in.
    public static func step(atSecond second: Int64) -> Int64 {
        second >= 0 ? second / period : -1
    }

    public func code(atStep step: Int64) throws(Failure) -> String {
        try HOTP.code(secret: secret, counter: UInt64(max(0, step)), digits: Self.digits)
    }

    /// The step whose code this is: the current one or a neighbour, for clocks that differ and hands
    /// that are slow. Nil when it is none of them, or a step not after `lastUsed`.
    ///
    /// The caller keeps the step as used, so that a code that was seen over a shoulder is worth
    /// nothing. All three codes are computed and compared in any case, and the answer is picked
    /// afterwards, so that the time taken doesn't tell how near a guess came.
    public func matchingStep(
        of input: String, atSecond second: Int64, after lastUsed: Int64? = nil
    ) throws(Failure) -> Int64? {
        let current = Self.step(atSecond: second)
        let typed = Self.plain(input)
        var matching: Int64?
        for step in (current - 1)...(current + 1) {
            let expected = Array(try code(atStep: step).utf8)
            let isEqual = constantTimeEqual(typed ?? [], expected)
            let isUsable = step >= 0 && step > lastUsed ?? -1
            // Of two steps with the same code the later, which uses both up.
            if isEqual, isUsable { matching = step }
        }
        return matching
    }

    /// Spaces and hyphens are how apps show a code; nil for anything else but six digits.
    private static func plain(_ input: String) -> [UInt8]? {
        guard input.utf8.count <= 64 else { return nil }
        let digits = input.utf8.filter { $0 != 0x20 && $0 != UInt8(ascii: "-") }
        guard digits.count == Self.digits, digits.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return digits
    }
}

/// One-time codes from a secret and a counter (RFC 4226), on which the others rest.
enum HOTP {
    /// Up to nine digits: the number behind them has 31 bits.
    static func code(
        secret: SecretBytes, counter: UInt64, digits: Int
    ) throws(Failure) -> String {
        let message = (0..<8).map { UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * $0)) }
        let tag = try HMACSHA1.authenticate(message, key: secret)
        let offset = Int(tag[tag.count - 1] & 15)
        var number = tag[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        number &= 0x7FFF_FFFF
        return String(paddedDecimal: number, digits: digits)
    }
}

extension String {
    /// The last `digits` digits, with zeros in front.
    init(paddedDecimal number: UInt32, digits: Int) {
        var text = [UInt8](repeating: 0x30, count: digits)
        var rest = number
        for index in text.indices.reversed() {
            text[index] += UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        self.init(decoding: text, as: UTF8.self)
    }
}
