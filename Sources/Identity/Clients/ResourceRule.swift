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

extension ClientMetadata {
    /// Whether the client may ask for a token that is good there: where its own list allows it,
    /// else the realm's. Without either, the administrator who registered the client answers for
    /// it; a client that registered itself has no such person. The issuer, whose user info it is
    /// for, is on no list: a token that names no resource is good there.
    public func mayAsk(
        for resource: String, _ settings: Settings, from issuer: String?
    ) -> Bool {
        guard ResourceRule.isResource(resource) else { return false }
        if let issuer, resource.utf8.elementsEqual(issuer.utf8) { return true }
        if !self.resources.isEmpty { return self.resources.contains(resource) }
        let known = settings[SettingCatalogue.resources]
        return known.isEmpty ? !self.needsListedResources : known.contains(resource)
    }
}

extension GrantDesk {
    /// Each time that tokens are made: a list may have become shorter meanwhile.
    func require(_ resources: [String]) throws(GrantRefusal) {
        for resource in resources
        where !metadata.mayAsk(for: resource, settings, from: request.issuer) {
            throw .invalidResource
        }
    }
}
