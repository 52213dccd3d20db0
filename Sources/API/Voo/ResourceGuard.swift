internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What a resource server's proxy asks of each request before it lets it pass: see
/// decision 0062.
enum ResourceGuard {
    static let route = Route<RealmContext>(
        .get, "/connect/guard", id: "guardResource", tag: "Voo",
        summary: "Checks a request for a resource server.",
        detail: """
            For `auth_request` of nginx and its like, which hand the request's Authorization on. \
            Tokens of the named client count, unless they are for another resource; with \
            `resource` those of every client that are for it, also of services. Tokens that are \
            bound to a key count with `origin`. 401 has the login page of the client in `Location` \
            and in `redirect_url`, but where there is no such client; 403 says that the token does \
            not reach that far.
            """,
        right: .nothing, voice: .oauth,
        parameters: [
            Parameter(
                "client_id", in: .query, .text(1...255), required: true,
                "OAuth client id of the client that people log in with.", example: "app"),
            Parameter(
                "redirect_uri", in: .query, .text(1...2048),
                "Redirect URI, if the client has several."),
            Parameter("scope", in: .query, .text(1...2048), "Scopes that the token must have."),
            Parameter(
                "resource", in: .query, .text(1...2048),
                "Resource server that the token must be for, whichever client it belongs to."),
            Parameter(
                "origin", in: .query, .text(1...255),
                "Origin of the resource server: tokens that are bound to a key are "
                    + "accepted there with a DPoP proof (RFC 9449). The proxy then has to set "
                    + "`X-Original-Method` and `X-Original-URI` on every request."),
        ],
        answer: .ok(
            "It may pass.",
            .object(
                .required(
                    "sub", .text(1...255), "Subject: the account, or the client of a service."),
                .required(
                    "sub_profile", .oneOf(["user", "service"]),
                    "Kind of `sub`: an account, or a service."),
                .required("client_id", .text(1...255), "OAuth client id."),
                .required(
                    "exp", .integer(0...(1 << 53 - 1)),
                    "Time until which the response may be cached, in seconds since 1970."),
                .optional(
                    "business_partner_id", .text(1...100),
                    "Identifier of the person in other systems.")),
            example: [
                "sub": "0193a0e7", "sub_profile": "user", "client_id": "app",
                "exp": 1_800_000_000,
            ]),
        refusals: Place.refusals + [.invalidToken, .insufficientScope, .invalidRequest]
    ) { call throws(Problem) in
        try await call.guardResource()
    }
}

extension Call<RealmContext> {
    fileprivate func guardResource() async throws(Problem) -> Response {
        let clientID = try required("client_id")
        // Proxies make a fault of their own of all but 401 and 403: a client may be gone tomorrow.
        guard let known = try await vooClient(clientID) else {
            throw Problem(.invalidToken, "There is no such client.")
        }
        let token: PresentedToken
        do throws(Problem) {
            token = try await shownToken(to: known)
        } catch {
            guard error.kind.status == .unauthorized else { throw error }
            return try loginNeeded(clientID, known.metadata, for: error)
        }
        guard reachesHere(token) else { throw Problem(.insufficientScope) }
        for name in Scope.parse(text("scope") ?? "") ?? [] where !token.scope.contains(name) {
            throw Problem(.insufficientScope)
        }
        var members: JSONObject = [
            "sub": .string(context.mint.subject(of: token.session.terms)),
            "sub_profile": .string(token.session.terms.subjectProfile),
            "client_id": .string(token.session.terms.clientID),
            "exp": .integer(token.expiresAt.seconds),
        ]
        var partner: String?
        if let account = token.session.terms.account {
            partner = try await PersonClaims(context).businessPartner(of: account)
        }
        members["business_partner_id"] = partner.map { .string($0) }
        var response = Response.json(.ok, .object(members))
        response.headers["Urd-Subject"] = members["sub"]?.string
        response.headers["Urd-Subject-Profile"] = members["sub_profile"]?.string
        // The partner is free text: it is validated before it is sent as a header.
        if let partner, partner.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            response.headers["Urd-Business-Partner"] = partner
        }
        return response
    }

    /// Any user may have clients of their own here: only a token's audience makes another client's
    /// token one for the resource server.
    private func shownToken(to known: KnownClient) async throws(Problem) -> PresentedToken {
        let lines = request.headers.all("Authorization")
        guard let line = lines.first else { throw Problem(.unauthenticated) }
        guard !known.isDisabled, lines.count == 1, let (scheme, text) = TokenScheme.read(line),
            let token = try await context.present(text),
            token.session.terms.client == known.id || self.text("resource") != nil
        else { throw Problem(.invalidToken) }
        if token.key == nil, scheme == .bearer { return token }
        guard let origin = self.text("origin") else {
            throw Problem(.unprovenToken, "Tokens that are bound to a key are not taken here.")
        }
        try await context.requireProof(
            of: token, text, shownAs: scheme, request, for: try originalCall(at: origin))
        return token
    }

    /// What the resource server was asked. The two headers are as good as the proxy that sets them,
    /// and it is the resource server's own: a caller that sends other headers here deceives only
    /// itself.
    private func originalCall(at origin: String) throws(Problem) -> ProvenCall {
        guard let site = URLParts.parse(origin), site.path.isEmpty, site.host != nil,
            !site.hasUserInfo, site.query == nil, site.fragment == nil
        else { throw Problem(.invalidRequest, "origin is no scheme and host.") }
        let methods = request.headers.all("X-Original-Method")
        let addresses = request.headers.all("X-Original-URI")
        guard methods.count == 1, let method = methods.first, addresses.count == 1,
            let address = addresses.first, address.utf8.first == UInt8(ascii: "/")
        else { throw Problem(.invalidRequest, "The proxy does not say what it was asked.") }
        return ProvenCall(method: method, address: origin + address)
    }

    private func reachesHere(_ token: PresentedToken) -> Bool {
        guard let resource = text("resource") else { return token.isFor(context.place.issuer) }
        return token.audience.contains(where: resource.isSpelled)
    }

    private func loginNeeded(
        _ clientID: String, _ metadata: ClientMetadata, for problem: Problem
    ) throws(Problem) -> Response {
        let registered = metadata.redirectURIs
        let asked = text("redirect_uri") ?? (registered.count == 1 ? registered.first : nil)
        guard let redirect = asked, RedirectRule.leads(redirect, to: registered) else {
            throw Problem(.invalidRequest, "redirect_uri is not one of the client's.")
        }
        let page = context.place.issuer + "/authorize"
        let query = [
            ("response_type", "code"), ("client_id", clientID), ("redirect_uri", redirect),
            ("state", context.newID().description),
        ].map { "\($0.0)=\(Percent.encode($0.1))" }.joined(separator: "&")
        let isMissing = problem.kind == .unauthenticated
        var response = Response.json(
            .unauthorized,
            [
                "error": .string(isMissing ? "login_required" : problem.kind.oauthCode),
                "redirect_url": .string("\(page)?\(query)"),
            ])
        response.headers["Location"] =
            metadata.loginLocation == .bare ? page : "\(page)?\(query)"
        for (name, value) in problem.headers { response.headers.append(name, value) }
        return response
    }
}
