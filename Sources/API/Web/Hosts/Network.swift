public import HTTP

/// A range of addresses in CIDR notation, such as `10.0.0.0/8`; one address is a range of one.
public struct Network: Sendable, Hashable, CustomStringConvertible {
    let base: IPAddress
    let length: Int

    /// Nil where bits are set behind the prefix: that is a slip, and either reading of it is a
    /// guess.
    public init?(_ text: String) {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let base = IPAddress(String(Substring(first))) else {
            return nil
        }
        let bits = base.bytes.count * 8
        var length = bits
        if parts.count == 2 {
            let digits = parts[1]
            guard (1...3).contains(digits.count), digits.count == 1 || digits.first != 0x30,
                digits.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(String(Substring(digits))), number <= bits
            else { return nil }
            length = number
        }
        guard base.withoutMapping == base, Self.masked(base.bytes, length) == base.bytes else {
            return nil
        }
        self.base = base
        self.length = length
    }

    public func contains(_ address: IPAddress) -> Bool {
        let address = address.withoutMapping
        return address.isIPv6 == base.isIPv6
            && Self.masked(address.bytes, length) == base.bytes
    }

    /// Several of them with commas between; nil where one is none.
    public static func list(_ text: String) -> [Network]? {
        var networks: [Network] = []
        for part in text.utf8.split(separator: UInt8(ascii: ",")) {
            let trimmed = part.filter { $0 != 0x20 && $0 != 0x09 }
            guard let network = Network(String(decoding: trimmed, as: UTF8.self)) else {
                return nil
            }
            networks.append(network)
        }
        return networks
    }

    public var description: String { "\(base)/\(length)" }

    private static func masked(_ bytes: [UInt8], _ length: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let kept = max(0, min(8, length - index * 8))
            return byte & ~UInt8(truncatingIfNeeded: 0xFF >> kept)
        }
    }
}

extension IPAddress {
    /// `::ffff:192.0.2.1` is 192.0.2.1, as a socket of both kinds tells it.
    var withoutMapping: IPAddress {
        guard isIPv6, bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF,
            bytes[11] == 0xFF
        else { return self }
        return IPAddress(bytes[12...].map(String.init).joined(separator: ".")) ?? self
    }
}
