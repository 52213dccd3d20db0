internal import HTTP

/// A range of addresses as the sources that the log tells apart, whose pseudonyms it has.
struct SourceRange {
    /// The addresses of the first and of the last one.
    private let first: UInt64
    private let last: UInt64
    private let isIPv6: Bool

    /// One address stands for its source; a range is written as `203.0.113.0/24`.
    init?(_ text: String) {
        guard let address = IPAddress(text)?.withoutMapping else {
            guard let network = Network(text) else { return nil }
            self.init(network.base, length: network.length)
            return
        }
        self.init(address, length: address.bytes.count * 8)
    }

    private init(_ address: IPAddress, length: Int) {
        isIPv6 = address.isIPv6
        let width = isIPv6 ? 64 : 32
        let bits = address.bytes.prefix(width / 8).reduce(0) { $0 << 8 | UInt64($1) }
        let free = max(0, width - length)
        let mask = free == 64 ? UInt64.max : (1 << UInt64(free)) - 1
        (first, last) = (bits & ~mask, bits | mask)
    }

    var count: Int {
        let (sum, isOver) = (last - first).addingReportingOverflow(1)
        return isOver ? .max : Int(clamping: sum)
    }

    var sources: [Source] { (first...last).map { Source(address(of: $0)) } }

    private func address(of bits: UInt64) -> String {
        let width: UInt64 = isIPv6 ? 16 : 8
        let parts = stride(from: width * 3, through: 0, by: -Int(width)).map { shift in
            String(bits >> shift & (1 << width - 1), radix: isIPv6 ? 16 : 10)
        }
        return isIPv6 ? parts.joined(separator: ":") + "::" : parts.joined(separator: ".")
    }
}
