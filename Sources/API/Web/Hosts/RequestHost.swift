internal import HTTP
internal import Identity

/// A host as a request names it, split into name and port. The host is not looked up yet.
struct RequestHost: Sendable, Hashable {
    /// In lower case, without a port.
    let name: String
    /// The port as it was given; nil without one.
    let port: UInt16?

    /// Strict: user info, a dot at the end, a space or a letter from elsewhere makes it none.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard (1...259).contains(bytes.count) else { return nil }
        var end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        if bytes[0] == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")),
                let address = IPAddress(String(decoding: bytes[1..<bracket], as: UTF8.self)),
                address.isIPv6
            else { return nil }
            name = "[\(address)]"
            end = bracket + 1
        } else {
            let lower = bytes[..<end].map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
            guard let host = HostName(String(decoding: lower, as: UTF8.self)) else { return nil }
            name = host.text
        }
        guard end < bytes.endIndex else {
            port = nil
            return
        }
        let digits = bytes[(end + 1)...]
        guard bytes[end] == UInt8(ascii: ":"), (1...5).contains(digits.count),
            digits.allSatisfy({ (0x30...0x39).contains($0) }), digits.first != 0x30,
            let number = UInt16(String(decoding: digits, as: UTF8.self))
        else { return nil }
        port = number
    }

    /// Under which names the directory may know it, the closest first: with its port, and without.
    var names: [String] {
        guard let port else { return [name] }
        return ["\(name):\(port)", name]
    }

    /// The host that this one would be a sub-domain of, and the label before it.
    var parent: (label: String, host: RequestHost)? {
        let bytes = Array(name.utf8)
        guard bytes.first != UInt8(ascii: "["), let dot = bytes.firstIndex(of: UInt8(ascii: ".")),
            let host = RequestHost(name: bytes[(dot + 1)...], port: port)
        else { return nil }
        return (String(decoding: bytes[..<dot], as: UTF8.self), host)
    }

    private init?(name: ArraySlice<UInt8>, port: UInt16?) {
        guard let host = HostName(String(decoding: name, as: UTF8.self)) else { return nil }
        self.name = host.text
        self.port = port
    }
}
