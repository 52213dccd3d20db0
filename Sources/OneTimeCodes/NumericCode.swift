internal import Cryptography

/// A code of digits that is sent to somebody and typed in by hand.
public enum NumericCode {
    /// Every code of six digits, those with zeros in front included, is as likely as any other.
    public static func generate() -> String {
        var random = SystemRandom()
        return generate(using: &random)
    }

    /// By rejection: 2^32 is no multiple of a million, so that the remainder of a plain division
    /// would come out smaller a little more often.
    static func generate(using random: inout some RandomNumberGenerator) -> String {
        let range: UInt32 = 1_000_000
        let fair = UInt32.max - UInt32.max % range
        while true {
            let number = UInt32(truncatingIfNeeded: random.next())
            if number < fair { return String(paddedDecimal: number % range, digits: 6) }
        }
    }
}
