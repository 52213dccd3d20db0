/// The methods that Urd knows. Any other makes no value, and is answered with 501 or 405.
public enum Method: String, Hashable, Sendable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case head = "HEAD"
    case options = "OPTIONS"

    /// Hashes the index: the method's text would be read to its end each time.
    public func hash(into hasher: inout Hasher) { hasher.combine(order) }

    public static func == (one: Method, other: Method) -> Bool { one.order == other.order }

    private var order: UInt8 {
        switch self {
        case .get: 0
        case .post: 1
        case .put: 2
        case .patch: 3
        case .delete: 4
        case .head: 5
        case .options: 6
        }
    }

    /// As it stands on the wire: methods are case-sensitive (RFC 9110 section 9.1).
    public init?(_ text: String) {
        self.init(rawValue: text)
    }
}
