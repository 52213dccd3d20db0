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
        var values: [String: String] = [:]
        for part in text.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { return nil }
            let name = String(pair[0].drop { $0 == " " })
            var value = pair[1].drop { $0 == " " }
            while value.last == " " { value.removeLast() }
            if value.utf8.count >= 2, value.first == "\"", value.last == "\"" {
                value = value.dropFirst().dropLast()
            }
            // What is there twice could mean either.
            guard values.updateValue(String(value), forKey: name) == nil else { return nil }
        }
        guard let keyID = values["kid"], let time = values["ts"], let text = values["mac"],
            let mac = Base64.decode(text) ?? Base64URL.decode(text)
        else { return nil }
        self.keyID = keyID
        self.time = time
        self.mac = mac
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
