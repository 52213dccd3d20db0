internal import Identity
internal import JOSE
internal import JSON

/// The discovery document of a place. It follows from the issuer and from which grants are on, so that
/// each is written once.
enum ServerMetadata {
    private struct Offer {
        let issuer: String
        let grants: GrantForms
        let hasNativeGrants: Bool
        var servesFederation = false
        var letsRegister = false
        var seesCertificates = false
    }

    static func document(of place: Place, _ grants: GrantForms) -> [UInt8] {
        let offer = Offer(
            issuer: place.issuer,
            grants: grants, hasNativeGrants: place.settings[SettingCatalogue.nativeGrants],
            servesFederation: place.settings.rules.servesFederation,
            letsRegister: place.settings[SettingCatalogue.clientRegistration] != .closed,
            seesCertificates: place.seesCertificates)
        return JSON.object(members(offer).merging(optional(offer)) { own, _ in own }).canonical()
    }

    private static func members(_ offer: Offer) -> JSONObject {
        let issuer = offer.issuer
        let grants = offer.grants.all.filter {
            (offer.hasNativeGrants || !$0.type.isNative)
                && (offer.servesFederation || !$0.isOfFederation)
        }.flatMap { $0.names.prefix(1) }
        let methods = AuthenticationMethod.allCases.filter {
            offer.seesCertificates || $0 != .selfSignedTLS
        }.map(\.rawValue)
        let proven = methods.filter { $0 != AuthenticationMethod.none.rawValue }
        return [
            "issuer": .string(issuer),
            "authorization_endpoint": .string(issuer + AuthorizeRoutes.path),
            "pushed_authorization_request_endpoint": .string(issuer + PushedRequests.path),
            "end_session_endpoint": .string(issuer + EndSessionRoutes.path),
            "token_endpoint": .string("\(issuer)/connect/token"),
            "introspection_endpoint": .string("\(issuer)/connect/introspect"),
            "revocation_endpoint": .string("\(issuer)/connect/revoke"),
            "device_authorization_endpoint": .string(issuer + DeviceRoutes.path),
            "userinfo_endpoint": .string("\(issuer)/connect/userinfo"),
            "jwks_uri": .string("\(issuer)/.well-known/jwks"),
            "grant_types_supported": texts(grants),
            "response_types_supported": texts(ResponseType.allCases.map(\.rawValue)),
            "response_modes_supported": texts(ResponseMode.allCases.map(\.rawValue)),
            "code_challenge_methods_supported": ["S256"],
            "prompt_values_supported": texts(
                AuthorizationRequest.Prompt.allCases.map(\.rawValue)),
            "scopes_supported": texts(Scope.standard),
            "ui_locales_supported": texts(Language.allCases.map(\.rawValue)),
            "subject_types_supported": texts(SubjectType.allCases.map(\.rawValue)),
            "userinfo_signing_alg_values_supported": texts(
                TokenSignature.allCases.map(\.rawValue)),
            "introspection_signing_alg_values_supported": texts(
                TokenSignature.allCases.map(\.rawValue)),
            "request_object_signing_alg_values_supported": texts(
                ClientKeys.algorithms.map(\.rawValue)),
            "id_token_signing_alg_values_supported": texts(TokenSignature.allCases.map(\.rawValue)),
            "token_endpoint_auth_methods_supported": texts(methods),
            "token_endpoint_auth_signing_alg_values_supported": texts(
                ClientKeys.algorithms.map(\.rawValue)),
            "introspection_endpoint_auth_methods_supported": texts(proven),
            "introspection_endpoint_auth_signing_alg_values_supported": texts(
                ClientKeys.algorithms.map(\.rawValue)),
            "revocation_endpoint_auth_methods_supported": texts(methods),
            "revocation_endpoint_auth_signing_alg_values_supported": texts(
                ClientKeys.algorithms.map(\.rawValue)),
            "acr_values_supported": texts([
                AuthenticationLevel.single, AuthenticationLevel.multiple,
            ]),
            "dpop_signing_alg_values_supported": texts(KeyProof.algorithms.map(\.rawValue)),
            "claims_supported": texts(
                [
                    "iss", "sub", "aud", "azp", "exp", "iat", "auth_time", "acr", "amr", "at_hash",
                    "nonce", "sid", "preferred_username", "resource_access",
                ] + RequestedClaims.known),
            "claims_parameter_supported": true, "request_parameter_supported": true,
            // A pushed request is named so, and none is fetched from elsewhere.
            "request_uri_parameter_supported": false,
            "require_pushed_authorization_requests": false,
            "backchannel_logout_supported": true, "backchannel_logout_session_supported": true,
            "authorization_response_iss_parameter_supported": true,
        ]
    }

    /// What is there only where the realm lets it be.
    private static func optional(_ offer: Offer) -> JSONObject {
        var members: JSONObject = [:]
        if offer.letsRegister {
            members["registration_endpoint"] = .string(offer.issuer + ClientRegistrationRoutes.path)
        }
        if offer.hasNativeGrants {
            members["authorization_challenge_endpoint"] = .string(
                offer.issuer + ChallengeRoutes.path)
        }
        return members
    }

    private static func texts(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }

    static let schema = Schema.named("ServerMetadata", .object(required + lists + flags))

    private static let required: [Member] = [
        .required("issuer", .text(1...2048), "Issuer identifier (`iss`) of the realm's tokens."),
        .required("authorization_endpoint", .text(1...2048), "URL of the authorization endpoint."),
        .required(
            "pushed_authorization_request_endpoint", .text(1...2048),
            "URL of the pushed authorization request endpoint (RFC 9126)."),
        .required(
            "end_session_endpoint", .text(1...2048),
            "URL of the logout endpoint (RP-Initiated Logout)."),
        .required("token_endpoint", .text(1...2048), "URL of the token endpoint."),
        .required(
            "introspection_endpoint", .text(1...2048),
            "URL of the introspection endpoint (RFC 7662)."),
        .required(
            "revocation_endpoint", .text(1...2048), "URL of the revocation endpoint (RFC 7009)."),
        .required("userinfo_endpoint", .text(1...2048), "URL of the userinfo endpoint."),
        .required("jwks_uri", .text(1...2048), "URL of the JWK set that verifies signatures."),
        .required(
            "device_authorization_endpoint", .text(1...2048),
            "URL of the device authorization endpoint (RFC 8628)."),
        .optional(
            "authorization_challenge_endpoint", .text(1...2048),
            "URL of the authorization challenge endpoint, for first-party apps."),
        .optional(
            "registration_endpoint", .text(1...2048),
            "URL of the dynamic registration endpoint (RFC 7591)."),
    ]

    private static let lists: [Member] = [
        ("grant_types_supported", "Grant types of the token endpoint."),
        ("response_types_supported", "Response types of the authorization endpoint."),
        ("response_modes_supported", "Response modes of the authorization endpoint."),
        ("code_challenge_methods_supported", "PKCE methods."),
        ("prompt_values_supported", "Values of `prompt`."),
        ("userinfo_signing_alg_values_supported", "Algorithms for signed userinfo responses."),
        (
            "introspection_signing_alg_values_supported",
            "Algorithms for signed introspection responses."
        ),
        (
            "request_object_signing_alg_values_supported",
            "Algorithms for request objects (RFC 9101)."
        ),
        ("scopes_supported", "Scopes of every realm."),
        ("ui_locales_supported", "Languages of the pages."),
        ("subject_types_supported", "Subject types: whether all clients get the same `sub`."),
        ("id_token_signing_alg_values_supported", "Algorithms for ID tokens."),
        (
            "token_endpoint_auth_methods_supported",
            "Client authentication methods at the token endpoint."
        ),
        (
            "token_endpoint_auth_signing_alg_values_supported",
            "Algorithms for client assertions at the token endpoint."
        ),
        (
            "introspection_endpoint_auth_methods_supported",
            "Client authentication methods at the introspection endpoint."
        ),
        (
            "introspection_endpoint_auth_signing_alg_values_supported",
            "Algorithms for client assertions at the introspection endpoint."
        ),
        (
            "revocation_endpoint_auth_methods_supported",
            "Client authentication methods at the revocation endpoint."
        ),
        (
            "revocation_endpoint_auth_signing_alg_values_supported",
            "Algorithms for client assertions at the revocation endpoint."
        ),
        ("dpop_signing_alg_values_supported", "Algorithms for DPoP proofs (RFC 9449)."),
        ("acr_values_supported", "Authentication context classes."),
        ("claims_supported", "Claims of ID tokens and userinfo."),
    ].map { name, about in .required(name, .list(of: .text(1...255), 0...50), about) }

    private static let flags: [Member] = [
        "claims_parameter_supported", "request_parameter_supported",
        "request_uri_parameter_supported", "require_pushed_authorization_requests",
        "backchannel_logout_supported", "backchannel_logout_session_supported",
        "authorization_response_iss_parameter_supported",
    ].map { .required($0, .boolean, "Support of this feature at the authorization endpoint.") }

    static func example(_ grants: GrantForms) -> JSON {
        .object(
            members(
                Offer(issuer: "https://id.example.com", grants: grants, hasNativeGrants: true)))
    }
}
