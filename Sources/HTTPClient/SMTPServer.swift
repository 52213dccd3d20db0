internal import HTTP

/// The mail server that takes our mails.
public struct SMTPServer: Sendable {
    public enum Security: String, Sendable, CaseIterable {
        /// Without TLS, in the clear. A password is never sent this way.
        case none
        /// In the clear first, then encrypted; a server that cannot is no server for us.
        case startTLS
        /// Encrypted from the first byte.
        case tls
    }

    public var host: String
    public var port: UInt16
    public var security: Security
    public var user: String?
    public var password: [UInt8]
    /// Certificates in PEM that are trusted beside the system's.
    public var caFile: String?
    /// How we introduce ourselves (EHLO).
    public var helloName: String
    public var connectTimeout: Duration = .seconds(10)
    /// From the call to the server's last answer, waiting for a thread included.
    public var timeout: Duration = .seconds(60)
    /// Usually `any`: the operator names the server, and it is often a private one.
    public var destinations: Destinations = .any

    public init(
        host: String, port: UInt16, security: Security, user: String? = nil,
        password: [UInt8] = [], caFile: String? = nil, helloName: String = "localhost"
    ) {
        self.host = host
        self.port = port
        self.security = security
        self.user = user
        self.password = password
        self.caFile = caFile
        self.helloName = helloName
    }
}

extension SMTPServer: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(host):\(port), \(security.rawValue)" }

    /// Without the password.
    public var customMirror: Mirror { Mirror(self, children: ["server": description]) }
}

extension SMTPServer {
    /// In libcurl the path of the URL is how we introduce ourselves.
    var url: String {
        let isIPv6 = host.utf8.contains(UInt8(ascii: ":"))
        return (security == .tls ? "smtps" : "smtp") + "://"
            + (isIPv6 ? "[\(host)]" : host) + ":\(port)/" + helloName
    }

    /// What cannot work, in the words of the person who set it.
    var fault: String? {
        guard port > 0, let parts = URLParts.parse(url), let read = parts.host, !parts.hasUserInfo,
            read == host.lowercased() || parts.address.map({ $0 == IPAddress(host) }) == true
        else { return "the host, the port or the hello name" }
        guard !helloName.isEmpty, helloName.utf8.count <= 253,
            helloName.utf8.allSatisfy({ $0 == 0x2D || $0 == 0x2E || isLetterOrDigit($0) })
        else { return "the hello name must be a host name" }
        if user == nil, !password.isEmpty { return "a password without a user" }
        if let user {
            if security == .none { return "a password is never sent in the clear" }
            if user.isEmpty || user.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                return "the user must not be empty or hold control characters"
            }
            if password.contains(where: { $0 == 0 }) { return "the password must not hold a NUL" }
        }
        if let caFile, caFile.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            return "control characters"
        }
        if min(connectTimeout, timeout) <= .zero { return "timeouts must be longer than nothing" }
        return nil
    }
}

func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
}
