/// The bytes of a hexadecimal test vector; spaces and line breaks are ignored.
func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap { $0.hexDigitValue }
    precondition(digits.count % 2 == 0, "A test vector has whole bytes")
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// Every array that differs from `bytes` in exactly one bit.
func withOneBitFlipped(_ bytes: [UInt8]) -> [[UInt8]] {
    bytes.indices.flatMap { index in
        (0..<8).map { bit in
            var changed = bytes
            changed[index] ^= 1 << bit
            return changed
        }
    }
}
