/// Where an answer may be sent. It carries codes, so it must reach the client and nobody else:
/// https, the person's own machine, or a scheme that an app claims by its reversed domain.
enum RedirectRule {
    static let limit = 2_000

    @Sendable static func check(_ text: String) throws(FieldFault.Reason) {
        guard text.utf8.count <= limit else { throw .tooLong(limit: limit) }
        guard let uri = AbsoluteURI(text) else { throw .malformed }
        guard !uri.hasFragment else { throw .hasFragment }
        guard !uri.hasUserInfo else { throw .hasUserInfo }
        switch uri.scheme {
        case "https":
            guard uri.host != nil else { throw .malformed }
        case "http":
            guard uri.host != nil else { throw .malformed }
            guard uri.isLoopback else { throw .unsafeScheme }
        default:
            // RFC 8252 section 7.1: the dot shows a domain in reverse, which has an owner. It
            // also keeps out javascript:, data: and whatever else a browser may come to run.
            guard uri.scheme.utf8.contains(0x2E) else { throw .unsafeScheme }
        }
    }
}
