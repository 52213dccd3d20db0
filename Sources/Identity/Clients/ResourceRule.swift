/// Where a token may be good: an absolute URI without a fragment (RFC 8707 section 2).
public enum ResourceRule {
    static let limit = 2048

    static func check(_ text: String) throws(FieldFault.Reason) {
        guard text.utf8.count <= limit else { throw .tooLong(limit: limit) }
        guard let uri = AbsoluteURI(text) else { throw .malformed }
        guard !uri.hasFragment else { throw .hasFragment }
    }

    public static func isResource(_ text: String) -> Bool { (try? check(text)) != nil }

    /// Whether two texts name the same resource: scheme and host in any case, and the scheme's own port
    /// written or not (RFC 3986 sections 6.2.2.1 and 6.2.3). All else is compared byte for byte.
    static func isSame(_ one: String, _ other: String) -> Bool {
        one.utf8.elementsEqual(other.utf8)
            || normalized(one).utf8.elementsEqual(normalized(other).utf8)
    }

    private static func normalized(_ text: String) -> String {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        let rest = text.dropFirst(scheme.count)
        guard rest.hasPrefix("://") else { return scheme + rest }
        let behind = rest.dropFirst(3)
        let authority = behind.prefix { $0 != "/" && $0 != "?" }
        var user = ""
        var host = authority.lowercased()
        if let mark = authority.lastIndex(of: "@") {
            user = String(authority[...mark])
            host = authority[authority.index(after: mark)...].lowercased()
        }
        let port = ["https": ":443", "http": ":80"][scheme]
        if let port, host.hasSuffix(port) { host.removeLast(port.count) }
        return "\(scheme)://\(user)\(host)\(behind.dropFirst(authority.count))"
    }

    /// The asked resources, each once, as the list spells them. Nil: a resource is not in the list.
    static func find(_ asked: [String], in list: [String]) -> [String]? {
        var found: [String] = []
        for resource in asked {
            guard let listed = list.first(where: { isSame($0, resource) }) else { return nil }
            if !found.contains(listed) { found.append(listed) }
        }
        return found
    }
}

extension ClientMetadata {
    /// Whether the client may ask for a token that is good there: where its own list allows it,
    /// else the realm's. Without either, the administrator who registered the client answers for
    /// it; a client that registered itself has no such person. The issuer, whose user info it is
    /// for, is on no list: a token that names no resource is good there.
    public func mayAsk(
        for resource: String, _ settings: Settings, from issuer: String?
    ) -> Bool {
        spelling(of: resource, settings, from: issuer) != nil
    }

    /// Resources as the lists spell them that allow them, for whose servers the spelling counts, and
    /// each once. One that is not allowed stays as it is: it is refused where all of them are looked at.
    public func spelled(
        _ resources: [String], _ settings: Settings, from issuer: String?
    ) -> [String] {
        var spelled: [String] = []
        for resource in resources {
            let name = spelling(of: resource, settings, from: issuer) ?? resource
            if !spelled.contains(where: { ResourceRule.isSame($0, name) }) { spelled.append(name) }
        }
        return spelled
    }

    private func spelling(
        of resource: String, _ settings: Settings, from issuer: String?
    ) -> String? {
        guard ResourceRule.isResource(resource) else { return nil }
        func listed(_ list: [String]) -> String? {
            list.first { ResourceRule.isSame($0, resource) }
        }
        if let issuer, ResourceRule.isSame(issuer, resource) { return issuer }
        if !self.resources.isEmpty { return listed(self.resources) }
        let own = self.needsListedResources ? settings[SettingCatalogue.uncheckedResources] : []
        let known = own.isEmpty ? settings[SettingCatalogue.resources] : own
        guard known.isEmpty else { return listed(known) }
        return self.needsListedResources ? nil : resource
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
