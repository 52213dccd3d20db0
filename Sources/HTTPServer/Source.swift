internal import CMicroHTTPD
internal import Glibc

/// Where a connection comes from.
struct Source: Hashable {
    /// The address in digits, as handlers see it.
    let text: String
    /// What is counted as one source: an IPv4 address, or the 64 bits of an IPv6 network, because a
    /// client that has one of these addresses has them all.
    let key: Key

    struct Key: Hashable {
        let family: Int32
        let bits: UInt64
    }

    init(_ address: UnsafePointer<sockaddr>?) {
        switch unsafe address.map({ unsafe Int32($0.pointee.sa_family) }) {
        case AF_INET:
            self = unsafe Source.version4(UnsafeRawPointer(address))
        case AF_INET6:
            self = unsafe Source.version6(UnsafeRawPointer(address))
        default:
            self = .unknown
        }
    }

    /// Of a family without addresses.
    private static let unknown = Source(text: "", key: Key(family: 0, bits: 0))

    private init(text: String, key: Key) {
        self.text = text
        self.key = key
    }

    private static func version4(_ address: UnsafeRawPointer?) -> Source {
        guard let address = unsafe address?.loadUnaligned(as: sockaddr_in.self) else {
            return .unknown
        }
        return version4(bits: UInt32(bigEndian: address.sin_addr.s_addr))
    }

    private static func version4(bits: UInt32) -> Source {
        let text = [24, 16, 8, 0].map { String(bits >> UInt32($0) & 0xFF) }.joined(separator: ".")
        return Source(text: text, key: Key(family: AF_INET, bits: UInt64(bits)))
    }

    private static func version6(_ address: UnsafeRawPointer?) -> Source {
        guard var address = unsafe address?.loadUnaligned(as: sockaddr_in6.self) else {
            return .unknown
        }
        let (high, low) = unsafe withUnsafeBytes(of: &address.sin6_addr) { bytes in
            unsafe (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        // An IPv4 client of a socket that takes both kinds.
        if high == 0, low >> 32 == 0xFFFF { return version4(bits: UInt32(truncatingIfNeeded: low)) }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        _ = unsafe inet_ntop(AF_INET6, &address.sin6_addr, &text, socklen_t(text.count))
        let digits = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return Source(
            text: String(decoding: digits, as: UTF8.self), key: Key(family: AF_INET6, bits: high))
    }
}
