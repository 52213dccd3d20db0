internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

/// The token endpoints of services, which take assertions.
enum ServiceTokenRoutes {
    static let table: [Route<RealmContext>] = [token]

    static let clientID = Parameter(
        "client_id", in: .path, .text(1...255), "Client id of the service.", example: "moodle")

    private static let token = Route<RealmContext>(
        .post, "/eduid/services/{client_id}/token", id: "getServiceToken", tag: "Federation",
        summary: "Issues a service's tokens: for an assertion, and to other apps on the device.",
        detail: """
            `urn:ietf:params:oauth:grant-type:jwt-bearer` (or with `param`): the app shows an assertion. \
            `authorization_code`: in a request that is signed by the token that came of it, the app shows a JWT of \
            that token for another app, and asks for protocols as its scope. `refresh_token`: the next token.
            """,
        right: .nothing, voice: .federation, parameters: [clientID],
        body: Body(
            schema: .object(
                .optional("grant_type", .anything, "Grant type."),
                .optional("assertion", .anything, "Assertion (JWT)."),
                .optional("code", .anything, "JWT for another app."),
                .optional("scope", .anything, "Protocols, separated by spaces or as a list."),
                .optional("refresh_token", .anything, "Refresh token.")),
            example: [
                "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": "…",
            ], maximumBytes: 64 * 1024),
        answer: .ok("The token.", DeviceTokenRoutes.answer, example: DeviceTokenRoutes.example),
        refusals: FederationPaths.refusals + [
            .noSuchClient, .unsupportedGrantType, .invalidGrant, .notImplemented,
        ]
    ) { call throws(Problem) in
        let refreshed =
            call.member("grant_type") == "refresh_token" ? call.member("refresh_token") : nil
        try RateCounter(call).count(
            .oauthToken, heldBy: call.context.mint.holder(ofRefreshToken: refreshed))
        guard
            let service = try await FederationServices(call.context).find(
                try call.required("client_id")),
            service.client.metadata.federationEndpoint == nil
        else { throw Problem(.noSuchClient, "There is no such service here.") }
        let type = try call.requireMember("grant_type")
        if GrantType.isNamed(type, "jwt-bearer") { return try await call.redeem(at: service) }
        if GrantType.isNamed(type, "saml2-bearer") { return try await call.redeemSAML(at: service) }
        switch type {
        case "authorization_code": return try await call.authorizeApp(at: service)
        case "refresh_token": return try await call.refreshFederated(at: service)
        default: throw Problem(.unsupportedGrantType)
        }
    }
}

extension Call<RealmContext> {
    fileprivate func redeem(at service: FederationService) async throws(Problem) -> Response {
        let notGood = Problem.refused(
            "invalid_grant", "The assertion is not valid for this service, or was used.")
        guard let text = member("assertion") else { throw notGood }
        guard let id = try await AssertionText(context).read(text, for: service) else {
            context.recordRefusedAssertion(at: service.client, service.clientID, in: request)
            throw notGood
        }
        let session = context.mint.session(ofKey: id)
        let outcome = try await grant(
            FederatedAssertionGrant(
                assertion: context.mint.federatedAssertion(id), session: session, keyID: id,
                audience: context.place.endpoint(of: service)),
            of: service.client, service.clientID)
        switch outcome {
        case .success(let granted): return .json(.ok, FederatedTokens(context).signing(granted))
        // The app hears of it, and takes the service off its list.
        case .failure(.exchangeNotAllowed):
            throw Problem.refused("access_denied", "The service does not take this person.")
        case .failure: throw notGood
        }
    }

    fileprivate func redeemSAML(at service: FederationService) async throws(Problem) -> Response {
        let notGood = Problem.refused(
            "invalid_grant", "The assertion is not valid for this service, or was used.")
        guard let text = member("assertion") else { throw notGood }
        guard
            let grant = SAMLAssertions(context).grant(
                of: text, for: service.client.id, at: context.place.endpoint(of: service))
        else {
            context.recordRefusedAssertion(
                .saml, at: service.client, service.clientID, in: request)
            throw notGood
        }
        let session = context.mint.session(ofKey: grant.keyID)
        switch try await self.grant(grant, of: service.client, service.clientID, as: session) {
        case .success(let granted): return .json(.ok, FederatedTokens(context).signing(granted))
        case .failure(.exchangeNotAllowed):
            throw Problem.refused("access_denied", "The service does not take this person.")
        case .failure(.usedAssertion):
            context.recordRefusedAssertion(
                .saml, at: service.client, service.clientID, in: request)
            throw notGood
        case .failure: throw notGood
        }
    }

    fileprivate func authorizeApp(
        at service: FederationService
    ) async throws(Problem) -> Response {
        let authorization = RequestAuthorization(self)
        let caller = try await authorization.caller(.service)
        guard caller.session.terms.client == service.client.id else { throw Problem(.forbidden) }
        let notGood = Problem.refused(
            "invalid_grant",
            "The code must be a JWT of now, signed by the token's key: kid the token's, iss the app, aud "
                + "the service's token endpoint, sub or client_id the other app.")
        guard let text = member("code"), let shown = SharedKeyToken(text),
            shown.keyID == caller.token.keyID, !authorization.isRequest(shown),
            context.mint.version(where: {
                shown.isSigned(
                    by: $0.requestKey(caller.session.id, caller.session.generation))
            }) != nil,
            UntimedTokens(self).isTimely(shown),
            shown.isFor([context.place.endpoint(of: service)]),
            try await authorization.isIssuer(shown, of: caller),
            let application = shown.label("sub") ?? shown.label("client_id")
        else { throw notGood }
        let keyID = TokenMint.newKeyID()
        let outcome = try await grant(
            FederatedAppGrant(
                above: caller.session.id, keyID: keyID, application: application,
                session: context.mint.session(ofProof: shown)),
            of: service.client, service.clientID, scope: try protocols())
        switch outcome {
        case .success(let granted):
            return .json(.ok, try await FederatedTokens(context).bearer(granted))
        case .failure(.unknownScope), .failure(.scopeNotAllowed):
            throw Problem.refused("invalid_scope", "The service does not offer these protocols.")
        case .failure: throw notGood
        }
    }

    /// The protocols that are asked for. What any service takes needs no name.
    private func protocols() throws(Problem) -> [String] {
        if let list = body["scope"]?.array {
            let names = list.compactMap(\.string)
            guard names.count == list.count, let scope = Scope.parse(names.joined(separator: " "))
            else { throw Problem.refused("invalid_scope", "The scope is misspelt.") }
            return scope
        }
        guard let scope = Scope.parse(member("scope") ?? "") else {
            throw Problem.refused("invalid_scope", "The scope is misspelt.")
        }
        return scope
    }
}

extension TokenMint {
    /// A JWT for another app is good once: the session that it opens has the name that follows from what was signed.
    fileprivate func session(ofProof code: SharedKeyToken) -> UUID {
        .v8(derive(.federatedProof, code.signed))
    }
}
