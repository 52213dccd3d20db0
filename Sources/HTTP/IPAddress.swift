/// An IPv4 or IPv6 address, read in its usual spellings and written in one.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// Four bytes or sixteen.
    public let bytes: [UInt8]

    public var isIPv6: Bool { bytes.count == 16 }

    /// Dotted decimals without leading zeros, or RFC 4291 text without a zone. IPv6 text that ends
    /// in dotted decimals is read; it stays an IPv6 address.
    public init?(_ text: String) {
        let characters = Array(text.utf8)[...]
        guard
            let bytes = characters.contains(UInt8(ascii: ":"))
                ? IPAddress.six(characters) : IPAddress.four(characters)
        else { return nil }
        self.bytes = bytes
    }

    /// 127.0.0.0/8 and ::1; not the IPv4-mapped forms, which no redirect URI needs.
    public var isLoopback: Bool {
        isIPv6 ? bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1 : bytes.first == 127
    }

    /// IPv6 as RFC 5952 recommends: lower case, the longest run of zeros shortened.
    public var description: String {
        guard isIPv6 else { return bytes.map(String.init).joined(separator: ".") }
        let groups = stride(from: 0, to: 16, by: 2).map { index in
            UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
        }
        let gap = IPAddress.longestRunOfZeros(groups)
        func text(_ part: ArraySlice<UInt16>) -> String {
            part.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard gap.count > 1 else { return text(groups[...]) }
        return text(groups[..<gap.lowerBound]) + "::" + text(groups[gap.upperBound...])
    }

    private static func longestRunOfZeros(_ groups: [UInt16]) -> Range<Int> {
        var best = 0..<0
        var start = 0
        for (index, group) in groups.enumerated() {
            if group != 0 {
                start = index + 1
            } else if index + 1 - start > best.count {
                best = start..<(index + 1)
            }
        }
        return best
    }

    private static func four(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4)
        var (part, digits) = (0, 0)
        for character in text {
            if character == UInt8(ascii: ".") {
                guard digits > 0, bytes.count < 3 else { return nil }
                bytes.append(UInt8(part))
                (part, digits) = (0, 0)
                continue
            }
            // A zero in front of others was octal once.
            guard isDigit(character), digits == 0 || part > 0 else { return nil }
            part = part * 10 + Int(character - 0x30)
            digits += 1
            guard part <= 255 else { return nil }
        }
        guard digits > 0, bytes.count == 3 else { return nil }
        bytes.append(UInt8(part))
        return bytes
    }

    private static func six(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count <= 45 else { return nil }
        guard let gap = doubleColon(text) else {
            guard let bytes = groups(text, mayEndInIPv4: true), bytes.count == 16 else {
                return nil
            }
            return bytes
        }
        let before = text[..<gap]
        let after = text[(gap + 2)...]
        guard let head = before.isEmpty ? [] : groups(before, mayEndInIPv4: false),
            let tail = after.isEmpty ? [] : groups(after, mayEndInIPv4: true),
            head.count + tail.count <= 14
        else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    /// Where the first `::` begins. A second one leaves an empty group, which is refused there.
    private static func doubleColon(_ text: ArraySlice<UInt8>) -> Int? {
        text.indices.dropLast().first { index in
            text[index] == UInt8(ascii: ":") && text[index + 1] == UInt8(ascii: ":")
        }
    }

    private static func groups(_ text: ArraySlice<UInt8>, mayEndInIPv4: Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if mayEndInIPv4, index == parts.count - 1, part.contains(UInt8(ascii: ".")) {
                guard let address = four(part) else { return nil }
                return bytes + address
            }
            guard (1...4).contains(part.count) else { return nil }
            var group: UInt16 = 0
            for byte in part {
                guard let digit = hexValue(byte) else { return nil }
                group = group << 4 | UInt16(digit)
            }
            bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
        }
        return bytes
    }
}
