/// Where a token may be good: an absolute URI without a fragment (RFC 8707 section 2).
public enum ResourceRule {
    static let limit = 2048

    static func check(_ text: String) throws(FieldFault.Reason) {
        guard text.utf8.count <= limit else { throw .tooLong(limit: limit) }
        guard let uri = AbsoluteURI(text) else { throw .malformed }
        guard !uri.hasFragment else { throw .hasFragment }
    }

    public static func isResource(_ text: String) -> Bool { (try? check(text)) != nil }
}
