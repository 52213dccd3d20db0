internal import JSON

/// What a client may say of itself without an administrator's review. It is an allowlist: a member
/// that comes to the catalogue later is an administrator's until it is added here.
enum OwnMetadata {
    /// Those of RFC 7591, OpenID Connect and their kin that grant no right.
    static let names: Set<String> = [
        "redirect_uris", "token_endpoint_auth_method", "grant_types", "response_types",
        "application_type", "client_name", "client_uri", "logo_uri", "scope", "contacts",
        "tos_uri", "policy_uri", "jwks_uri", "jwks", "software_id", "software_version",
        "id_token_signed_response_alg", "userinfo_signed_response_alg", "subject_type",
        "sector_identifier_uri", "introspection_signed_response_alg", "request_object_signing_alg",
        "default_max_age",
        "default_acr_values", "initiate_login_uri",
        "post_logout_redirect_uris", "backchannel_logout_uri",
        "backchannel_logout_session_required", "require_pushed_authorization_requests",
        "require_signed_request_object",
        "dpop_bound_access_tokens",
    ]

    /// The software statement, which is checked before the members beside it.
    private static let statement = "software_statement"

    /// How far a token or a software statement vouches for the client.
    struct Allowance: Sendable {
        var grants: Set<GrantType> = [.authorizationCode, .refreshToken, .deviceCode]
        var scope: Set<String>

        /// - Parameter settings: those of the realm, or of the app that the client belongs to.
        init(_ settings: Settings) {
            scope = Set(Scope.standard)
            add(settings[SettingCatalogue.uncheckedScopes])
        }

        /// A client becomes a receiver of everybody's events only by an administrator's hand.
        mutating func add(_ names: [String]) {
            scope.formUnion(Set(names).subtracting(SignalScope.all).subtracting(FeedScope.all))
        }
    }

    /// The members that count. Unknown names are ignored (RFC 7591 section 2); what only an
    /// administrator may give is refused by name, so that no client believes to have it.
    static func read(
        _ members: JSONObject, _ allowance: Allowance, keeping current: ClientMetadata? = nil
    ) throws(FieldFault) -> JSONObject {
        var read: JSONObject = [:]
        for (name, value) in members.sorted(by: { $0.key < $1.key })
        where !value.isNull && name != statement {
            guard let field = MetadataField.find(name) else { continue }
            guard names.contains(name) else {
                // Sending back a current value asks for nothing.
                if let current, current.value(of: field) == value { continue }
                throw FieldFault(name, .reserved)
            }
            read[name] = value
        }
        let grants = allowance.grants.union(current?.grantTypes ?? [])
        for (index, value) in (read["grant_types"]?.array ?? []).enumerated() {
            if let grant = value.string.flatMap(GrantType.init(rawValue:)), !grants.contains(grant)
            {
                throw FieldFault("grant_types", .reserved, at: index)
            }
        }
        if let text = read["scope"]?.string {
            let kept = try scope(text, allowance.scope.union(current?.scope ?? []))
            read["scope"] = kept.isEmpty ? nil : .string(kept)
        }
        if let current {
            for field in MetadataField.all where !names.contains(field.name) {
                read[field.name] = current.value(of: field)
            }
        }
        read[statement] = nil
        return read
    }

    /// A server may leave out what it does not give, and answers with what it has registered (RFC 7591
    /// section 2): libraries name all that they know of, and a scope may open something at a resource server.
    private static func scope(
        _ text: String, _ allowed: Set<String>
    ) throws(FieldFault) -> String {
        guard text.utf8.count <= Scope.longest else {
            throw FieldFault("scope", .tooLong(limit: Scope.longest))
        }
        return text.split(separator: " ").filter { allowed.contains(String($0)) }
            .joined(separator: " ")
    }
}
