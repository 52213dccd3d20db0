internal import Cryptography
internal import HTTP
internal import Values

/// A request that is signed in its header: `MAC kid=…,ts=…,mac=…`.
struct RequestMAC {
    let keyID: String
    private let time: String
    private let mac: [UInt8]

    /// - Parameter text: the header behind its scheme.
    init?(_ text: String) {
        guard text.utf8.count <= 1024 else { return nil }
        var shown: (keyID: String?, time: String?, mac: String?)
        var others: [String] = []
        for part in text.utf8.split(separator: UInt8(ascii: ",")) {
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let name = String(Substring(part[..<equals].drop { $0 == UInt8(ascii: " ") }))
            let value = Self.bare(part[part.index(after: equals)...])
            // What is there twice could mean either.
            switch name {
            case "kid" where shown.keyID == nil: shown.keyID = value
            case "ts" where shown.time == nil: shown.time = value
            case "mac" where shown.mac == nil: shown.mac = value
            case "kid", "ts", "mac": return nil
            default:
                guard !others.contains(name) else { return nil }
                others.append(name)
            }
        }
        guard let keyID = shown.keyID, let time = shown.time, let text = shown.mac,
            let mac = Base64.decode(text) ?? Base64URL.decode(text)
        else { return nil }
        self.keyID = keyID
        self.time = time
        self.mac = mac
    }

    /// Without spaces and quotes around it.
    private static func bare(_ text: Substring.UTF8View) -> String {
        var value = text.drop { $0 == UInt8(ascii: " ") }
        while value.last == UInt8(ascii: " ") { value.removeLast() }
        let quote = UInt8(ascii: "\"")
        if value.count >= 2, value.first == quote, value.last == quote {
            value = value.dropFirst().dropLast()
        }
        return String(Substring(value))
    }

    /// The time of the request in microseconds, which is its number too: clients that ask more than once a second
    /// write fractions of seconds, milliseconds or microseconds.
    var sequence: Int64? {
        let parts = time.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), (1...16).contains(parts[0].utf8.count),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let whole = Int64(parts[0])
        else { return nil }
        if parts.count == 2 {
            guard (1...6).contains(parts[1].utf8.count), parts[0].utf8.count <= 11 else {
                return nil
            }
            let padded = parts[1] + String(repeating: "0", count: 6 - parts[1].utf8.count)
            return Int64(padded).map { whole * 1_000_000 + $0 }
        }
        switch parts[0].utf8.count {
        case ...11: return whole * 1_000_000
        case ...14: return whole * 1_000
        default: return whole
        }
    }

    /// Whether it was made with the key for this request: for its method, path and host.
    func isOf(_ request: Request, by key: String) -> Bool {
        guard let host = request.headers["Host"] else { return false }
        let path = request.query.map { "\(request.path)?\($0)" } ?? request.path
        let line = "\(request.method.rawValue) \(path) HTTP/1.1"
        return HMACKey(Array(key.utf8)).isValid(mac, for: Array("\(line)\n\(time)\n\(host)\n".utf8))
    }
}
