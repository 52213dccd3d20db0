/// The methods that Urd knows. Any other makes no value, and is answered with 501 or 405.
public enum Method: String, Hashable, Sendable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case head = "HEAD"
    case options = "OPTIONS"

    /// As it stands on the wire: methods are case-sensitive (RFC 9110 section 9.1).
    public init?(_ text: String) {
        self.init(rawValue: text)
    }
}
