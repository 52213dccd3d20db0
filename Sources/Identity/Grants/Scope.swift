/// Scopes as they are asked for and given.
public enum Scope {
    /// Everybody knows these; a client that was registered without a list may ask for them.
    public static let standard = [
        "openid", "profile", "email", "phone", "roles", "permissions", "offline_access",
    ]

    /// All that a client may ask for.
    public static func allowed(to metadata: ClientMetadata) -> [String] {
        metadata.scope.isEmpty ? standard : metadata.scope
    }

    /// What a client gets of what it asked for. Nothing asked: what it was registered with, without
    /// `offline_access`, which has to be asked for.
    public static func granted(
        _ asked: [String], to metadata: ClientMetadata
    ) throws(GrantRefusal) -> [String] {
        let allowed = allowed(to: metadata)
        guard !asked.isEmpty else { return metadata.scope.filter { $0 != "offline_access" } }
        var granted: [String] = []
        for scope in asked where !granted.contains(scope) {
            guard allowed.contains(scope) else {
                if standard.contains(scope) { throw .scopeNotAllowed }
                throw .unknownScope
            }
            granted.append(scope)
        }
        return granted
    }

    /// What a client may have of what it asked for at the authorization endpoint, where others are
    /// passed over (OpenID Connect Core section 3.1.2.1). Nil where no scope is left.
    public static func understood(_ asked: [String], by metadata: ClientMetadata) -> [String]? {
        let allowed = allowed(to: metadata)
        guard !asked.isEmpty else { return metadata.scope.filter { $0 != "offline_access" } }
        // Who cannot refresh has no use for it (OpenID Connect Core section 11).
        let mayRefresh = metadata.grantTypes.contains(.refreshToken)
        var understood: [String] = []
        for scope in asked where allowed.contains(scope) && !understood.contains(scope) {
            if scope == "offline_access", !mayRefresh { continue }
            understood.append(scope)
        }
        return understood.isEmpty ? nil : understood
    }

    /// In bytes: as much as any request or registration may name.
    public static let longest = 2048

    /// The names in a `scope` parameter. Nil where a scope is misspelt, or the text is too long.
    public static func parse(_ text: String) -> [String]? {
        guard text.utf8.count <= longest else { return nil }
        let names = text.split(separator: " ").map(String.init)
        return names.count <= 64 && names.allSatisfy(TextRule.isScopeName) ? names : nil
    }
}
