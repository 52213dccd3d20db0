internal import JSON

/// Rules between the members of a client's metadata.
enum MetadataRules {
    static func check(_ metadata: ClientMetadata) throws(FieldFault) {
        try checkGrants(metadata)
        try checkKeys(metadata)
        try checkSector(metadata)
    }

    /// OpenID Connect Core section 8.1: a sector has one host.
    private static func checkSector(_ metadata: ClientMetadata) throws(FieldFault) {
        guard metadata.subjectType == .pairwise, metadata.sector == nil else { return }
        throw FieldFault("sector_identifier_uri", .needed(by: "subject_type"))
    }

    private static func checkGrants(_ metadata: ClientMetadata) throws(FieldFault) {
        let grants = metadata.grantTypes
        guard !grants.isEmpty else { throw FieldFault("grant_types", .missing) }
        if grants.contains(.flagship), grants.count > 1 {
            throw FieldFault("grant_types", .conflicts(with: GrantType.flagship.rawValue))
        }
        if grants.contains(.clientCredentials) {
            guard metadata.authenticationMethod != .none else {
                throw FieldFault(
                    "grant_types", .conflicts(with: "token_endpoint_auth_method"),
                    at: grants.firstIndex(of: .clientCredentials))
            }
            if let user = grants.firstIndex(where: \.isForUsers) {
                throw FieldFault("grant_types", .conflicts(with: "client_credentials"), at: user)
            }
        }
        if let password = grants.firstIndex(of: .password), !metadata.rules.isFederationApp {
            throw FieldFault("grant_types", .needed(by: "profile"), at: password)
        }
        if metadata.rules.hasSharedKey, !metadata.authenticationMethod.usesSecret {
            throw FieldFault("token_endpoint_auth_method", .conflicts(with: "profile"))
        }
        if metadata.assertionEncryption != .none, metadata.jwks == nil {
            throw FieldFault("jwks", .needed(by: "assertion_encrypted_response_alg"))
        }
        if metadata.rules.isTenant, !grants.contains(.authorizationCode) {
            throw FieldFault("grant_types", .needed(by: "profile"))
        }
        // RFC 7591 section 2.1: the two lists say the same about the authorization endpoint.
        guard grants.contains(.authorizationCode) == metadata.responseTypes.contains(.code) else {
            throw FieldFault("response_types", .conflicts(with: "grant_types"))
        }
        // A tenant's apps on the person's own machine need no entry.
        if grants.contains(.authorizationCode), metadata.redirectURIs.isEmpty,
            !metadata.rules.isTenant
        {
            throw FieldFault("redirect_uris", .missing)
        }
    }

    private static func checkKeys(_ metadata: ClientMetadata) throws(FieldFault) {
        if metadata.jwks != nil, metadata.jwksURI != nil {
            throw FieldFault("jwks", .conflicts(with: "jwks_uri"))
        }
        if metadata.authenticationMethod == .selfSignedTLS {
            // RFC 8705 section 2.2.2: each key with its certificate.
            let keys = metadata.jwks?["keys"]?.array ?? []
            guard keys.contains(where: { $0["x5c"]?.array?.first?.string != nil }) else {
                throw FieldFault("jwks", .needed(by: "token_endpoint_auth_method"))
            }
        }
        if metadata.authenticationMethod == .privateKeyJWT {
            guard metadata.jwks != nil || metadata.jwksURI != nil else {
                throw FieldFault("jwks", .needed(by: "token_endpoint_auth_method"))
            }
            guard metadata.jwks.map(KeySetRule.canVerify) != false else {
                throw FieldFault("jwks", .unsupported)
            }
        }
    }
}
