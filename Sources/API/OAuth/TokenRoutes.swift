internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Where clients get tokens, and where they ask about them and give them back.
enum TokenRoutes {
    static func table(_ grants: GrantForms) -> [Route<RealmContext>] {
        [token(grants), introspect, revoke]
    }

    static func token(_ grants: GrantForms) -> Route<RealmContext> {
        Route(
            .post, PathTemplate(stringLiteral: Place.tokenPath), id: "getToken", tag: "OAuth",
            summary: "Issues tokens to a client for a grant (RFC 6749).", right: .client,
            voice: .oauth, parameters: [requestName],
            body: .form(
                .object(
                    ClientCredentials.members + [
                        .required("grant_type", .text(1...255), "Grant type."),
                        .optional(
                            "scope", .text(1...2048), "Requested scopes, separated by spaces."),
                        .optional(
                            "resource", .list(of: .text(1...2048), 0...8),
                            "Resource servers of the tokens (RFC 8707)."),
                    ] + grants.members),
                example: [
                    "grant_type": "urn:cocoar:otp", "client_id": "phone", "otp_code": "123456",
                    "username": "ann@example.org",
                ]),
            answer: .ok("The tokens.", tokens, example: exampleTokens),
            refusals: Place.refusals + [
                .unsupportedGrantType, .unauthorizedClient, .invalidGrant, .invalidScope,
                .invalidTarget, .invalidRequest, .rateLimited, .invalidProof, .nonceNeeded,
                .authorizationPending, .slowDown, .expiredDeviceCode, .deviceDenied, .mfaRequired,
            ], traits: [.forScripts, .acceptsCachedClient, .consumesAssertion]
        ) { call throws(Problem) in
            let client = try call.caller.client
            let form = grants.find(
                call.body["grant_type"]?.string ?? "", at: call.context.place)
            return try await RateCounter(call).counting(
                .oauthToken, call.standing(of: form, client)
            ) { () throws(Problem) in try await call.redeem(form, as: client) }
        }
    }

    private static let requestName = Parameter(
        "Idempotency-Key", in: .header,
        .text(1...255, .some(Characters(0x21...0x7E), 1...255)),
        "Random key of at least 22 characters, chosen by the client for one "
            + "request with a mailed code or link. The same request with the same key "
            + "gets the same response for a minute, at any node.")

    private static let introspect = Route<RealmContext>(
        .post, "/connect/introspect", id: "introspectToken", tag: "OAuth",
        summary: "Introspects a token (RFC 7662).",
        detail: """
            For clients that can keep a secret. A refresh token is active for its own client alone.
            """, right: .client, voice: .oauth,
        body: .form(tokenForm, example: exampleForm),
        answer: .ok(
            "State and claims of the token (RFC 7662).",
            introspection,
            example: ["active": false]),
        refusals: Place.refusals + [.invalidRequest], traits: .acceptsCachedClient
    ) { call throws(Problem) in
        let client = try call.caller.client
        guard client.proof != .none else { throw Problem(.invalidClient) }
        guard let text = call.body["token"]?.string else { throw Problem(.invalidRequest) }
        return try await call.introspect(text, for: client)
    }

    private static let revoke = Route<RealmContext>(
        .post, "/connect/revoke", id: "revokeToken", tag: "OAuth",
        summary: "Ends a token and all that belong to the same sign-in (RFC 7009).",
        detail: "A client ends its own tokens only; of others it hears nothing.", right: .client,
        voice: .oauth, body: .form(tokenForm, example: exampleForm),
        answer: Answer(
            status: .ok, description: "The token is revoked, or was not valid (RFC 7009).",
            content: .nothing),
        refusals: Place.refusals + [.invalidRequest], traits: .forScripts
    ) { call throws(Problem) in
        let client = try call.caller.client
        guard let text = call.body["token"]?.string else { throw Problem(.invalidRequest) }
        if let session = try await call.context.session(ofToken: text),
            let lasting = try await call.context.lasting(session),
            lasting.terms.client == client.id
        {
            try await call.endSession(session, as: client)
        }
        return Response(status: .ok)
    }

    private static let introspection = Schema.object(
        .required("active", .boolean, "Whether the token is valid, and the caller may know it."),
        .optional("scope", .text(0...2048), "Scopes of the token, separated by spaces."),
        .optional("client_id", .text(1...255), "OAuth client id of the token."),
        .optional(
            "sub", .text(1...255), "Subject: the account, or the client if it acts for itself."),
        .optional(
            "sub_profile", .oneOf(["user", "service"]),
            "Kind of `sub`: an account, or a client that acts for itself."),
        .optional("exp", .integer(0...(1 << 53 - 1)), "Expiry time, in seconds since 1970."),
        .optional("iat", .integer(0...(1 << 53 - 1)), "Issue time, in seconds since 1970."),
        .optional(
            "aud", .list(of: .text(1...2048), 0...8), "Audience: the resource servers of the token."
        ),
        .optional("iss", .text(1...2048), "Issuer of the token."),
        .optional("jti", .text(1...255), "Token id."),
        .optional("sid", .text(1...255), "Session id of the sign-in."),
        .optional(
            "app_kind", .oneOf(WebAppKind.allCases.map(\.rawValue)),
            "Kind of web app that the flagship app opened with the token."),
        .optional("app_slug", .text(1...63), "Slug of that web app."),
        .optional(
            "auth_time", .integer(0...(1 << 53 - 1)), "Time of the sign-in, in seconds since 1970."),
        .optional("acr", .text(1...255), "Authentication context class of the sign-in."),
        .optional(
            "amr", .list(of: .text(1...50), 0...10),
            "Authentication methods of the sign-in (RFC 8176)."),
        .optional(
            "token_type", .text(1...20),
            "Token type, such as Bearer or DPoP; a refresh token has none."),
        .optional(
            "business_partner_id", .text(1...100),
            "Identifier of the person in other systems, for clients of the profile `voo`."),
        .optional(
            "resource_access", ResourceAccess.schema,
            "Roles and permissions by audience, with the scopes `roles` or `permissions`."),
        .optional("act", .openObject, "Actor of a delegated token (RFC 8693)."),
        .optional("cnf", .openObject, "Key that the token is bound to (RFC 9449)."))

    private static let tokenForm = Schema.object(
        ClientCredentials.members + [
            .required("token", .text(1...16384), "Access token or refresh token."),
            .optional(
                "token_type_hint", .text(1...255), "Hint on the type of the token; not needed."),
        ])
    private static let exampleForm: JSON = [
        "client_id": "api", "client_secret": "…", "token": "urd_at_…",
    ]

    private static let tokens = Schema.object(
        .required("access_token", .text(1...16384), "Access token for resource servers."),
        .required("token_type", .text(1...20), "Token type: Bearer or DPoP."),
        .required(
            "expires_in", .integer(0...(1 << 40)), "Lifetime of the access token in seconds."),
        .optional(
            "refresh_token", .text(1...4096), "Refresh token, with the scope `offline_access`."),
        .optional("issued_token_type", .text(1...255), "Token type of an exchange (RFC 8693)."),
        .optional("scope", .text(1...2048), "Granted scopes, separated by spaces, if any."),
        .optional("id_token", .text(1...16384), "ID token, with the scope `openid`."))
    private static let exampleTokens: JSON = [
        "access_token": "urd_at_…", "token_type": "Bearer", "expires_in": 900, "scope": "openid",
    ]
}

extension GrantOutcome {
    fileprivate func orProblem() throws(Problem) -> GrantedTokens {
        switch self {
        case .success(let granted): granted
        case .failure(let refusal): throw refusal.problem
        }
    }
}

extension Call<RealmContext> {
    /// Whose budget a token request uses.
    fileprivate func standing(of form: GrantForm?, _ client: PresentClient) -> RateStanding {
        // Shown by a client that it was not given to, it uses up nothing of its holder's.
        if let holder = form?.holder(self) { return .holder("\(holder) \(client.clientID)") }
        guard client.proof != .none else { return .unproved(client: client.clientID) }
        return form?.type == .clientCredentials
            ? .client(client.clientID) : .unprovedByClient(client.clientID)
    }

    fileprivate func redeem(
        _ form: GrantForm?, as client: PresentClient
    ) async throws(Problem) -> Response {
        guard let form else { throw Problem(.unsupportedGrantType) }
        // What the realm or the client does not do is told before the grant is looked at. The decision
        // checks it again: this may be a moment old.
        let place = context.place
        // A client of another app brings that app's settings with it.
        let isOfThisPlace = client.metadata.appID == nil || client.metadata.appID == place.app
        if form.type.isNative, isOfThisPlace, !place.settings[SettingCatalogue.nativeGrants] {
            throw GrantRefusal.unsupportedGrant.problem
        }
        try await require(form.type, of: client)
        let request: GrantRequest
        do throws(Problem) {
            request = try grantRequest(of: client)
        } catch {
            try await lookForReuse(form, as: client)
            throw error
        }
        guard form.signsIn else {
            return try await tokenResponse(form.redeem(self, request).orProblem())
        }
        async let pause: Void = context.hesitate()
        do throws(Problem) {
            return try await tokenResponse(form.redeem(self, request).orProblem())
        } catch {
            // Of what was wrong its time tells nothing either.
            if error.kind == .invalidGrant { await pause }
            throw error
        }
    }

    /// No fault of a request hides that what it shows was used before.
    private func lookForReuse(
        _ form: GrantForm, as client: PresentClient
    ) async throws(Problem) {
        switch form.type {
        case .authorizationCode, .refreshToken: break
        // Used or not, these end nothing that they opened.
        case .clientCredentials, .deviceCode, .jwtBearer, .tokenExchange, .nativeOTP,
            .nativeMagicLink, .nativePasskey, .password, .flagship:
            return
        }
        var request = bareGrantRequest(of: client)
        request.isFaulty = true
        do throws(Problem) {
            _ = try await form.redeem(self, request)
        } catch {
            // What is wrong with the request is the answer, where the log could be asked.
            if error.kind == .unavailable { throw error }
        }
    }
}
