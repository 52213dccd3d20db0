/// A 128-bit identifier (RFC 9562). Compares as its bytes do, so that version 7 sorts by time.
public struct UUID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let high: UInt64
    public let low: UInt64

    public static let zero = UUID(high: 0, low: 0)

    @inlinable
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Exactly sixteen bytes, most significant first.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(
            high: bytes[0..<8].reduce(0) { $0 << 8 | UInt64($1) },
            low: bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// The 36-character form, in either case; no braces, no `urn:uuid:`.
    public init?(_ text: String) {
        guard text.utf8.count == 36 else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        var index = 0
        for byte in text.utf8 {
            switch index {
            case 8, 13, 18, 23:
                guard byte == UInt8(ascii: "-") else { return nil }
            default:
                guard let digit = Hex.value(of: byte) else { return nil }
                if index < 18 {
                    high = high << 4 | UInt64(digit)
                } else {
                    low = low << 4 | UInt64(digit)
                }
            }
            index += 1
        }
        self.init(high: high, low: low)
    }

    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            for index in 0..<8 {
                buffer[index] = UInt8(truncatingIfNeeded: high >> UInt64(56 - 8 * index))
                buffer[index + 8] = UInt8(truncatingIfNeeded: low >> UInt64(56 - 8 * index))
            }
            count = 16
        }
    }

    /// Lower case, as RFC 9562 prints it.
    public var description: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            var position = 0
            for nibble in 0..<32 {
                if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                    buffer[position] = UInt8(ascii: "-")
                    position += 1
                }
                let half = nibble < 16 ? high : low
                let digit = half >> UInt64(60 - 4 * (nibble % 16))
                buffer[position] = Hex.digit(UInt8(truncatingIfNeeded: digit))
                position += 1
            }
            return position
        }
    }

    @inlinable
    public static func < (left: UUID, right: UUID) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }

    public var version: Int { Int(high >> 12 & 0xF) }
}

extension UUID {
    /// Ordered by the microsecond, not only by the millisecond: the 12 bits after the version hold
    /// the fraction (RFC 9562 section 6.2, method 3). 62 bits stay random.
    @inlinable
    public static func v7(at time: Timestamp, using random: inout some RandomNumberGenerator)
        -> UUID
    {
        v7(at: time, random: random.next())
    }

    @usableFromInline
    static func v7(at time: Timestamp, random: UInt64) -> UUID {
        let last: Int64 = (1 << 48) * 1000 - 1
        let microseconds = UInt64(min(max(time.microseconds, 0), last))
        let milliseconds = microseconds / 1000
        let fraction = microseconds % 1000 * 4096 / 1000
        return UUID(
            high: milliseconds << 16 | 0x7000 | fraction,
            low: random & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    /// A name made of a digest, so that the same input gives the same identifier. Shorter digests
    /// are filled with zeros.
    public static func v8(_ digest: [UInt8]) -> UUID {
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in 0..<8 {
            high = high << 8 | UInt64(index < digest.count ? digest[index] : 0)
            low = low << 8 | UInt64(index + 8 < digest.count ? digest[index + 8] : 0)
        }
        return UUID(
            high: high & 0xFFFF_FFFF_FFFF_0FFF | 0x8000,
            low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    /// When a version 7 identifier was made, as exactly as it says; nil for any other version.
    public var timestamp: Timestamp? {
        guard version == 7, low >> 62 == 2 else { return nil }
        let milliseconds = Int64(high >> 16)
        let fraction = Int64(high & 0xFFF)
        return Timestamp(
            microseconds: milliseconds * 1000 + min((fraction * 1000 + 4095) / 4096, 999))
    }
}
