/// An address that people's browsers or our own requests will go to.
enum WebAddressRule {
    static let limit = 2_000

    static func check(
        _ text: String, mayBeLoopback: Bool = true, mayHaveQuery: Bool = true
    ) throws(FieldFault.Reason) {
        guard text.utf8.count <= limit else { throw .tooLong(limit: limit) }
        guard let uri = AbsoluteURI(text) else { throw .malformed }
        guard uri.scheme == "https" || uri.scheme == "http" && uri.isLoopback && mayBeLoopback
        else { throw .unsafeScheme }
        guard uri.host != nil else { throw .malformed }
        guard !uri.hasUserInfo else { throw .hasUserInfo }
        guard !uri.hasFragment else { throw .hasFragment }
        guard !AbsoluteURI.hasEscapedControl(text) else { throw .hasControl }
        guard uri.scheme != "https" || uri.host.map(WebHost.canBe) == true else {
            throw .impossibleHost
        }
        guard mayHaveQuery || !uri.hasQuery else { throw .malformed }
    }
}
