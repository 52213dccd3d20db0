internal import JSON

/// JSON may write a character beyond the basic plane as two escapes, which YAML does not know.
enum SurrogatePairs {
    /// A document of JSON with such characters in the place of their escapes. What is no JSON stays as it is.
    static func joined(in bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(backslash), (try? JSON.parse(bytes)) != nil else { return bytes }
        var joined: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if let lead = unit(bytes, index), UTF16.isLeadSurrogate(lead),
                let trail = unit(bytes, index + 6)
            {
                joined += Array(String(decoding: [lead, trail], as: UTF16.self).utf8)
                index += 12
            } else {
                let count = bytes[index] == backslash ? 2 : 1
                joined += bytes[index..<index + count]
                index += count
            }
        }
        return joined
    }

    private static let backslash = UInt8(ascii: "\\")

    /// The code unit of UTF-16 of the escape at an index.
    private static func unit(_ bytes: [UInt8], _ index: Int) -> UInt16? {
        guard index + 6 <= bytes.count, bytes[index] == backslash,
            bytes[index + 1] == UInt8(ascii: "u")
        else { return nil }
        return UInt16(String(decoding: bytes[index + 2..<index + 6], as: UTF8.self), radix: 16)
    }
}
