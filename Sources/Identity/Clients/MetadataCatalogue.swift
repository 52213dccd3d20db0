internal import JSON
internal import Values

extension MetadataField {
    public static func find(_ name: String) -> MetadataField? { byName[name] }

    private static let byName = Dictionary(
        all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    /// All that can be said about a client. A new member is a property of `ClientMetadata` and one
    /// entry here. The order is that of checking.
    public static let all: [MetadataField] =
        [
            .choices("grant_types", \.grantTypes, "Grant types that the client may use"),
            .choices(
                "response_types", \.responseTypes, "Response types that the client may use"
            ),
            .choice(
                "token_endpoint_auth_method", \.authenticationMethod, default: .secretBasic,
                "Client authentication method at the token endpoint"),
            .choice(
                "application_type", \.applicationType, default: .web,
                "Application type: web or native"),
            .redirects,
            .text("client_name", \.clientName, "Display name of the client") {
                text throws(FieldFault.Reason) in try TextRule.label(text, limit: 200)
            },
            .scopeNames,
            .texts(
                "contacts", \.contacts, limit: 10, isPersonal: true,
                "Contacts of the client, such as mail addresses"
            ) { text throws(FieldFault.Reason) in try TextRule.label(text, limit: 254) },
            .web("client_uri", \.clientURI, "The client's home page"),
            .web("logo_uri", \.logoURI, "The client's logo"),
            .web("policy_uri", \.policyURI, "The client's privacy policy"),
            .web("tos_uri", \.tosURI, "The client's terms of service"),
            .text("jwks_uri", \.jwksURI, format: "uri", "URL of the client's JWK set") {
                text throws(FieldFault.Reason) in
                try WebAddressRule.check(text, mayBeLoopback: false)
            },
            .keySet,
            .text("software_id", \.softwareID, "Identifier of the client's software") {
                text throws(FieldFault.Reason) in try TextRule.label(text, limit: 200)
            },
            .text("software_version", \.softwareVersion, "Version of the client's software") {
                text throws(FieldFault.Reason) in try TextRule.label(text, limit: 100)
            },
            .statement,
            .seconds(
                "access_token_lifetime", \.accessTokenLifetime,
                like: SettingCatalogue.accessTokenLifetime,
                "Lifetime of the client's access tokens in seconds"),
            .seconds(
                "refresh_token_lifetime", \.refreshTokenLifetime,
                like: SettingCatalogue.refreshTokenLifetime,
                "Lifetime of the client's unused refresh tokens in seconds"),
            .text(
                "webauthn_rp_id", \.passkeyDomain,
                "The domain that passkeys belong to in this client, at or below the realm's own"
            ) { text throws(FieldFault.Reason) in
                guard PasskeyDomain.isDomain(text) else { throw .malformed }
            },
            .choice(
                "access_token_format", \.accessTokenFormat, default: .reference,
                "Format of the client's access tokens"),
            .choice(
                "access_token_signed_response_alg", \.accessTokenSignature, default: .rs256,
                "Algorithm for the client's access tokens, if their format is jwt"),
            .choice(
                "id_token_signed_response_alg", \.idTokenSignature, default: .rs256,
                "Algorithm for the client's ID tokens"),
            .texts(
                "audiences", \.audiences, limit: 20, format: "uri",
                "The resources that the client speaks for: it may introspect tokens for them",
                rule: ResourceRule.check),
            .texts(
                "resources", \.resources, limit: 50, format: "uri",
                "The resources that the client may ask tokens for; the realm's, where it has none",
                rule: ResourceRule.check),
            .flag(
                "resources_listed_only", \.needsListedResources,
                "Whether the client may ask for no resource where none is listed"),
            .flag(
                "introspects_all_tokens", \.introspectsAllTokens,
                "Whether the client may introspect every token of the realm"),
            .flag(
                "forwards_addresses", \.forwardsAddresses,
                "Whether the client is trusted to forward the address of its users"),
            .app,
        ] + authorization + requests + rights + installation + federation

    /// What an installation says of its device.
    private static let installation: [MetadataField] = [
        .text("client_kind", \.clientKind, "Kind of app of an installation") {
            text throws(FieldFault.Reason) in try TextRule.label(text, limit: 50)
        },
        .text("client_os", \.clientOS, "Operating system of an installation") {
            text throws(FieldFault.Reason) in try TextRule.label(text, limit: 100)
        },
        .text(
            "notification_platform", \.notificationPlatform,
            "Push provider of an installation"
        ) { text throws(FieldFault.Reason) in
            guard ["firebase", "apns", "huawei", "android", "ios"].contains(text) else {
                throw .unsupported
            }
        },
        .text(
            "notification_device_token", \.notificationToken, isPersonal: true,
            "Device token at the push provider"
        ) { text throws(FieldFault.Reason) in try TextRule.label(text, limit: 4_096) },
        notifications,
    ]

    private static var notifications: MetadataField {
        MetadataField(
            name: "notifications", about: "Notification settings of an app, by category",
            schema: ["type": "object", "additionalProperties": ["type": "object"]],
            isPersonal: false,
            get: { $0.notifications },
            set: { metadata, value throws(FieldFault) in
                guard value.object != nil else {
                    throw FieldFault("notifications", .wrongType(expected: .object))
                }
                metadata.notifications = value
            },
            check: { metadata throws(FieldFault) in
                guard let said = metadata.notifications else { return }
                do throws(FieldFault.Reason) { try NotificationCategories.check(said) } catch {
                    throw FieldFault("notifications", error)
                }
            })
    }

    /// The places of an installation are the app's own: any scheme that no browser runs will do. So are
    /// those of apps of the voo profile, which cannot be changed, and which an administrator knows.
    private static var redirects: MetadataField {
        let field = MetadataField.texts(
            "redirect_uris", \.redirectURIs, limit: 50, format: "uri",
            "Redirect URIs of the client", rule: RedirectRule.check)
        let lenient = MetadataField.texts(
            "redirect_uris", \.redirectURIs, limit: 50, format: "uri", "",
            rule: RedirectRule.checkInstallation)
        let places = MetadataField.texts(
            "redirect_uris", \.redirectURIs, limit: 50, format: "uri", "",
            rule: TenantPlace.check)
        return MetadataField(
            name: field.name, about: field.about, schema: field.schema, isPersonal: false,
            get: field.get, set: field.set,
            check: { metadata throws(FieldFault) in
                if metadata.rules.isTenant { return try places.check(metadata) }
                let isLenient = metadata.isInstallation || metadata.rules.lenientRedirects
                try (isLenient ? lenient : field).check(metadata)
            })
    }

    /// How far its tokens reach, and how they are held.
    private static let rights: [MetadataField] = [
        .flag(
            "client_assertion_for_token_url", \.assertsForTokenURL,
            "Whether the client's assertions may name the token endpoint instead of the issuer"),
        .flag(
            "dpop_bound_access_tokens", \.bindsTokens,
            "Whether the client's access tokens are always bound to a key (DPoP, RFC 9449)"),
        .exchange,
        .texts(
            "exchange_targets", \.exchangeTargets, limit: 20, format: "uri",
            "Resources of the tokens that the client gets by token exchange (RFC 8693)",
            rule: ResourceRule.check),
        .texts(
            "may_act", \.mayAct, limit: 20,
            "Clients that may exchange this client's tokens, for any of their resources",
            rule: { text throws(FieldFault.Reason) in try TextRule.clientID(text) }),
    ]

    /// What holds of each request of the client, where the request does not say otherwise.
    private static let requests: [MetadataField] = [
        .text(
            "request_object_signing_alg", \.requestSignature,
            "Only algorithm for the client's request objects (RFC 9101)"
        ) { text throws(FieldFault.Reason) in
            guard Self.requestSignatures.contains(text) else { throw .unsupported }
        },
        .text(
            "initiate_login_uri", \.initiateLoginURI, format: "uri",
            "URI at which third parties can initiate a login at the client"
        ) { text throws(FieldFault.Reason) in
            try WebAddressRule.check(text, mayBeLoopback: false)
        },
        .number(
            "default_max_age", \.maximumAge, in: 0...31_536_000,
            "Maximum age of the sign-in in seconds"),
        .texts(
            "default_acr_values", \.levels, limit: 16,
            "Authentication context classes of sign-ins: one of these",
            rule: { text throws(FieldFault.Reason) in try TextRule.label(text, limit: 200) }),
    ]

    /// Those that keys of clients can sign with; `none` is none of them.
    public static let requestSignatures = ["ES256", "EdDSA", "Ed25519", "PS256", "RS256", "ES384"]

    /// What the authorization endpoint, user info and logout look at.
    private static let authorization: [MetadataField] = [
        .choice(
            "consent", \.consent, default: .needed,
            "Consent that users have to give before the client gets their data"),
        .choice(
            "profile", \.profile, default: .standard,
            "Protocol profile of the client"),
        .choice(
            "login_location", \.loginLocation, default: .full,
            "How a resource server's 401 names the login page, in the profile voo"),
        .choice(
            "subject_type", \.subjectType, default: .public,
            "Subject type: whether the client gets a sub of its own for each account"),
        .text(
            "sector_identifier_uri", \.sectorURI, format: "uri",
            "URI whose host is the sector of a client with subs of its own"
        ) { text throws(FieldFault.Reason) in
            try WebAddressRule.check(text, mayBeLoopback: false)
        },
        .text(
            "userinfo_signed_response_alg", \.userInfoSignature,
            "Algorithm for signed userinfo responses; plain JSON without it"
        ) { text throws(FieldFault.Reason) in
            guard TokenSignature(rawValue: text) != nil else { throw .unsupported }
        },
        .text(
            "introspection_signed_response_alg", \.introspectionSignature,
            "Algorithm for signed introspection responses; RS256 by default"
        ) { text throws(FieldFault.Reason) in
            guard TokenSignature(rawValue: text) != nil else { throw .unsupported }
        },
        .flag(
            "require_pushed_authorization_requests", \.needsPushedRequests,
            "Whether the client's requests must be pushed (RFC 9126)"),
        .flag(
            "require_signed_request_object", \.needsSignedRequests,
            "Whether the client's requests must be signed (RFC 9101)"),
        .texts(
            "post_logout_redirect_uris", \.logoutRedirectURIs, limit: 50, format: "uri",
            "Redirect URIs after a logout", rule: RedirectRule.check),
        .text(
            "backchannel_logout_uri", \.logoutURI, format: "uri",
            "URI for logout tokens (OpenID Connect Back-Channel Logout)"
        ) { text throws(FieldFault.Reason) in try WebAddressRule.check(text) },
        .flag(
            "backchannel_logout_session_required", \.needsLogoutSession,
            "Whether logout tokens must have a session id (sid)"),
    ]

    static func web(
        _ name: String, _ path: Path<String?>, _ about: String
    ) -> MetadataField {
        text(name, path, format: "uri", about) { text throws(FieldFault.Reason) in
            try WebAddressRule.check(text)
        }
    }

    /// A field that is left out where it is `none`, as for nearly all clients.
    private static var exchange: MetadataField {
        let field = choice(
            "token_exchange", \.exchange, default: .none,
            "Token exchange (RFC 8693) that the client may do")
        return MetadataField(
            name: field.name, about: field.about, schema: field.schema, isPersonal: false,
            get: { $0.exchange == .none ? nil : field.get($0) }, set: field.set,
            check: field.check)
    }

    /// One text of names with spaces between them (RFC 6749 section 3.3).
    private static var scopeNames: MetadataField {
        MetadataField(
            name: "scope", about: "The scopes that the client may ask for, separated by spaces",
            schema: ["type": "string"], isPersonal: false,
            get: { $0.scope.isEmpty ? nil : .string($0.scope.joined(separator: " ")) },
            set: { metadata, value throws(FieldFault) in
                guard let text = value.string else {
                    throw FieldFault("scope", .wrongType(expected: .text))
                }
                metadata.scope = text.split(separator: " ").map(String.init)
            },
            check: { metadata throws(FieldFault) in
                let length = metadata.scope.reduce(0) { $0 + $1.utf8.count + 1 } - 1
                guard length <= Scope.longest else {
                    throw FieldFault("scope", .tooLong(limit: Scope.longest))
                }
                guard metadata.scope.count <= 100 else {
                    throw FieldFault("scope", .tooMany(limit: 100))
                }
                for (index, name) in metadata.scope.enumerated() {
                    guard name.utf8.count <= 128 else {
                        throw FieldFault("scope", .tooLong(limit: 128), at: index)
                    }
                    guard TextRule.isScopeName(name) else {
                        throw FieldFault("scope", .malformed, at: index)
                    }
                }
                try distinct("scope", metadata.scope)
            })
    }

    private static var keySet: MetadataField {
        MetadataField(
            name: "jwks", about: "The client's public keys (RFC 7517)",
            schema: [
                "type": "object", "required": ["keys"],
                "properties": ["keys": ["type": "array", "items": ["type": "object"]]],
            ],
            isPersonal: false,
            get: { $0.jwks },
            set: { metadata, value throws(FieldFault) in
                guard value.object != nil else {
                    throw FieldFault("jwks", .wrongType(expected: .object))
                }
                metadata.jwks = value
            },
            check: { metadata throws(FieldFault) in
                guard let keys = metadata.jwks else { return }
                do throws(FieldFault.Reason) { try KeySetRule.check(keys) } catch {
                    throw FieldFault("jwks", error)
                }
            })
    }

    private static var app: MetadataField {
        MetadataField(
            name: "app_id", about: "The app that the client belongs to",
            schema: ["type": "string", "format": "uuid"], isPersonal: false,
            get: { $0.appID.map { .string($0.description) } },
            set: { metadata, value throws(FieldFault) in
                guard let text = value.string else {
                    throw FieldFault("app_id", .wrongType(expected: .text))
                }
                guard let id = UUID(text) else { throw FieldFault("app_id", .malformed) }
                metadata.appID = id
            },
            check: { _ throws(FieldFault) in })
    }
}
