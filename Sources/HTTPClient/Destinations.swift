public import HTTP

/// A range of addresses: `10.0.0.0/8`, `fd00::/8`, or one address alone.
public struct AddressRange: Hashable, Sendable {
    let bytes: [UInt8]
    let prefix: Int

    /// Nil when it is no range, or when bits are set behind the prefix.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let address = IPAddress(String(parts[0]) ?? "") else {
            return nil
        }
        bytes = address.bytes
        if parts.count == 2 {
            let digits = parts[1]
            guard (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
                digits.count == 1 || digits.first != 0x30
            else { return nil }
            prefix = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        } else {
            prefix = bytes.count * 8
        }
        guard prefix <= bytes.count * 8, AddressRange.hasOnlyZeros(bytes, from: prefix) else {
            return nil
        }
    }

    public func contains(_ address: IPAddress) -> Bool { contains(address.bytes) }

    /// Loopback.
    public static let ofThisMachine = ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) }

    func contains(_ address: [UInt8]) -> Bool {
        guard address.count == bytes.count else { return false }
        let whole = prefix / 8
        guard address[..<whole] == bytes[..<whole] else { return false }
        let rest = prefix % 8
        guard rest > 0 else { return true }
        let mask = ~(UInt8.max >> UInt8(rest))
        return address[whole] & mask == bytes[whole] & mask
    }

    private static func hasOnlyZeros(_ bytes: [UInt8], from bit: Int) -> Bool {
        (bit..<(bytes.count * 8)).allSatisfy { bytes[$0 / 8] & (0x80 >> UInt8($0 % 8)) == 0 }
    }
}

/// Which addresses may be called. Asked with the address itself when a connection is made, so that
/// no name, redirect or answer of DNS leads around it.
public enum Destinations: Sendable {
    case any
    /// Only addresses of the public internet, and these.
    case publicOnly(except: [AddressRange] = [])

    public func allow(_ address: IPAddress) -> Bool { allow(address.bytes) }

    func allow(_ address: [UInt8]) -> Bool {
        guard case .publicOnly(let exceptions) = self else { return true }
        let forms = [address] + (Self.four(in: address).map { [$0] } ?? [])
        if exceptions.contains(where: { range in forms.contains(where: range.contains) }) {
            return true
        }
        return forms.last.map(Self.isPublic) ?? false
    }

    /// The bytes of an address of the public internet; an IPv4 address in the form of an IPv6 address is its
    /// four. Nil for all other addresses.
    public static func publicBytes(of address: IPAddress) -> [UInt8]? {
        let bytes = four(in: address.bytes) ?? address.bytes
        return isPublic(bytes) ? bytes : nil
    }

    /// The IPv4 address that an IPv6 address stands for: mapped (RFC 4291 section 2.5.5.2) or
    /// translated by NAT64 (RFC 6052).
    private static func four(in address: [UInt8]) -> [UInt8]? {
        guard address.count == 16 else { return nil }
        let isMapped = address[..<10].allSatisfy { $0 == 0 } && address[10...11] == [0xFF, 0xFF]
        let isTranslated =
            address[..<4] == [0x00, 0x64, 0xFF, 0x9B] && address[4..<12].allSatisfy { $0 == 0 }
        return isMapped || isTranslated ? Array(address[12...]) : nil
    }

    private static func isPublic(_ address: [UInt8]) -> Bool {
        switch address.count {
        case 4: !special4.contains { $0.contains(address) }
        case 16:
            global6.contains { $0.contains(address) }
                && !special6.contains { $0.contains(address) }
        default: false
        }
    }

    /// The IANA registry of special-purpose IPv4 addresses (RFC 6890), multicast and the future.
    private static let special4 = ranges([
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24",
        "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    ])

    /// All that is global unicast today; the rest of IPv6 is loopback, link, site, multicast or
    /// unassigned.
    private static let global6 = ranges(["2000::/3"])

    /// Special purposes, Teredo, 6to4 (both carry IPv4 addresses of the caller's choice) and what is
    /// for documentation.
    private static let special6 = ranges([
        "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
    ])

    private static func ranges(_ texts: [String]) -> [AddressRange] {
        texts.map { text in
            guard let range = AddressRange(text) else {
                preconditionFailure("A range of the registry is a range.")
            }
            return range
        }
    }
}
