internal import HTTP
internal import JSON
internal import Values

/// What a request shows of the client that sends it, in one of the ways of RFC 6749 section 2.3
/// and RFC 7521 section 4.2. Whether it is true is for others to find out.
public struct ClientCredentials: Sendable, Equatable {
    public enum Proof: Sendable, Equatable {
        /// A public client has none.
        case none
        /// In the header `Authorization` (`client_secret_basic`).
        case basic(secret: String)
        /// In the body (`client_secret_post`).
        case post(secret: String)
        /// A signed statement (`private_key_jwt` and its like).
        case assertion(type: String, text: String)
    }

    /// Nil only beside an assertion, which names the client itself.
    public let clientID: String?
    public let proof: Proof
    /// The same secret is in the body and in the header. RFC 6749 section 2.3 forbids it: whether the client may
    /// is for others to find out.
    public let isRepeated: Bool

    public init(clientID: String?, proof: Proof) {
        self.clientID = clientID
        self.proof = proof
        isRepeated = false
    }

    static let severalWays = Problem(
        .invalidRequest, "The client authenticates in more than one way.")

    /// The members that a form has for this.
    static let members: [Member] = [
        .optional("client_id", .text(1...255), "OAuth client id.", example: "demo-client"),
        .optional("client_secret", .text(1...1024), "Client secret, if it is not in a header."),
        .optional(
            "client_assertion_type", .text(1...255), "Type of the client assertion (RFC 7521)."),
        .optional(
            "client_assertion", .text(1...16384), "JWT that the client has signed (RFC 7523)."),
    ]

    /// Throws where the request has no credentials, or more than one: then it could mean one client
    /// to us and another one to a proxy or log.
    init(_ request: Request, body: JSON) throws(Problem) {
        let lines = request.headers.all("Authorization")
        guard lines.count <= 1 else {
            throw Problem(.invalidRequest, "There is more than one Authorization header.")
        }
        let header = try lines.first.map { line throws(Problem) in try Self.basic(line) }
        let id = body["client_id"]?.string
        let secret = body["client_secret"]?.string
        let assertion = body["client_assertion"]?.string
        let type = body["client_assertion_type"]?.string
        guard (assertion == nil) == (type == nil) else {
            throw Problem(
                .invalidRequest,
                "client_assertion and client_assertion_type come together or not at all.")
        }
        let isRepeated = secret != nil && header?.secret == secret
        let ways = [header != nil, secret != nil && !isRepeated, assertion != nil]
        guard ways.filter({ $0 }).count <= 1 else { throw Self.severalWays }
        self.isRepeated = isRepeated
        if let header {
            guard id == nil || id == header.id else {
                throw Problem(
                    .invalidRequest, "client_id is not the client of the Authorization header.")
            }
            clientID = header.id
            // An empty password is what a client without a secret has.
            proof = header.secret.isEmpty ? .none : .basic(secret: header.secret)
            return
        }
        clientID = id
        if let assertion, let type {
            proof = .assertion(type: type, text: assertion)
            return
        }
        guard id != nil else { throw Problem(.invalidClient, "client_id is required.") }
        proof = secret.map { .post(secret: $0) } ?? .none
    }

    /// Both parts are forms' text inside of the base 64 (RFC 6749 section 2.3.1), so that either
    /// may hold a colon.
    private static func basic(_ line: String) throws(Problem) -> (id: String, secret: String) {
        let refused = Problem(.invalidClient, "The Authorization header cannot be read.")
        let parts = line.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard line.utf8.count <= 8192, parts.count == 2,
            String(Substring(parts[0])).lowercased() == "basic",
            let bytes = decoded(String(Substring(parts[1]))),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let id = unescaped(bytes[..<colon]), let secret = unescaped(bytes[(colon + 1)...]),
            (1...255).contains(id.utf8.count), secret.utf8.count <= 1024
        else { throw refused }
        return (id, secret)
    }

    /// Some clients leave out the padding; what else has another spelling is refused.
    private static func decoded(_ text: String) -> [UInt8]? {
        let missing = (4 - text.utf8.count % 4) % 4
        let isBare = missing < 3 && !text.hasSuffix("=")
        return Base64.decode(isBare ? text + String(repeating: "=", count: missing) : text)
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self),
            let decoded = Percent.decode(text.replacing("+", with: "%20")),
            !decoded.utf8.contains(0)
        else { return nil }
        return decoded
    }
}

extension ClientCredentials: CustomStringConvertible {
    /// Without what proves it: this may end up in a log line.
    public var description: String {
        let way =
            switch proof {
            case .none: "none"
            case .basic: "basic"
            case .post: "post"
            case .assertion: "assertion"
            }
        return "client (\(way))"
    }
}
