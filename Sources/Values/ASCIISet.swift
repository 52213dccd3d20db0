/// Some of the 128 characters of ASCII: looking one up costs a shift, and no hash.
public struct ASCIISet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    public init(_ characters: StaticString) {
        characters.withUTF8Buffer { bytes in
            for byte in bytes where byte < 64 { low |= 1 << UInt64(byte) }
            for byte in bytes where byte >= 64 && byte < 128 { high |= 1 << UInt64(byte - 64) }
        }
    }

    /// Never a byte beyond ASCII.
    public func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<64: low >> UInt64(byte) & 1 == 1
        case 64..<128: high >> UInt64(byte - 64) & 1 == 1
        default: false
        }
    }
}
