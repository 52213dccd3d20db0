internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// The places and letters that apps of the voo profile know: see `docs/decisions/0042-voo-profile.md`.
enum VooRoutes {
    static let table: [Route<RealmContext>] = [
        AuthorizeRoutes.authorize(.get, "/authorize", id: "vooAuthorize"),
        AuthorizeRoutes.authorize(.post, "/authorize", id: "vooAuthorizeByForm"),
        token("/token", id: "vooToken"), token("/Token", id: "vooTokenCapital"), guarding,
    ]

    private static func token(_ path: PathTemplate, id: String) -> Route<RealmContext> {
        Route(
            .post, path, id: id, tag: "Voo", summary: "Tokens for apps of the voo profile.",
            detail: """
                As `/connect/token`, with the parameters in the query or a form. A public client \
                need not name itself to refresh.
                """,
            right: .nothing, dialect: .oauth,
            answer: .ok("The tokens.", .openObject, example: [:]),
            refusals: Place.refusals + [
                .invalidRequest, .invalidClient, .invalidGrant, .invalidScope, .invalidTarget,
                .unauthorizedClient, .unsupportedGrantType, .rateLimited,
            ]
        ) { call throws(Problem) in
            let request = try await call.vooTokenRequest()
            let context = call.context
            return try await Endpoint(TokenRoutes.token) { _ throws(Problem) in context }
                .answer(request, [])
        }
    }

    static let guardPath = "/connect/guard"

    private static let guarding = Route<RealmContext>(
        .get, PathTemplate(stringLiteral: guardPath), id: "guardResource", tag: "Voo",
        summary: "Says for a resource server whether a request may pass.",
        detail: """
            For `auth_request` of nginx and its like, which hand the request's Authorization on. \
            401 has the login page of the client in `Location` and in `redirect_url`; 403 says that \
            the token does not reach that far.
            """,
        right: .nothing, dialect: .oauth,
        parameters: [
            Parameter(
                "client_id", in: .query, .text(1...255), required: true,
                "The client that people are to log in with.", example: "app"),
            Parameter(
                "redirect_uri", in: .query, .text(1...2048),
                "Where it comes back, if it has several places."),
            Parameter("scope", in: .query, .text(1...2048), "What the token must be good for."),
            Parameter("resource", in: .query, .text(1...2048), "What it must be meant for."),
        ],
        answer: .ok(
            "It may pass.",
            .object(
                .required("sub", .text(1...255), "The account."),
                .required("client_id", .text(1...255), "The client."),
                .required("exp", .integer(0...(1 << 53 - 1)), "Until when that may be kept."),
                .optional("business_partner_id", .text(1...100), "As other systems know it.")),
            example: ["sub": "0193a0e7", "client_id": "app", "exp": 1_800_000_000]),
        refusals: Place.refusals + [.invalidToken, .insufficientScope, .invalidRequest]
    ) { call throws(Problem) in
        try await call.guardResource()
    }
}

extension Call<RealmContext> {
    /// What came in the query and in the form as one form, from a client of the profile.
    fileprivate func vooTokenRequest() async throws(Problem) -> Request {
        var pairs: [Form.Pair] = []
        for part in [Array((request.query ?? "").utf8), request.body] {
            guard let read = Form.parse(part, maximumPairs: 64, maximumBytes: 64 << 10) else {
                throw Problem(.malformedForm)
            }
            pairs += read
        }
        let clientID: String
        if let named = pairs.first(where: { $0.name == "client_id" })?.value {
            clientID = named
        } else {
            clientID = try await holder(
                of: pairs.first { $0.name == "refresh_token" }?.value ?? "")
            pairs.append(("client_id", clientID))
        }
        guard let known = try await known(clientID), known.metadata.profile == .voo else {
            throw Problem(.invalidClient)
        }
        var inner = request
        inner.path = TokenRoutes.tokenPath
        inner.query = nil
        inner.headers["Content-Type"] = "application/x-www-form-urlencoded"
        inner.body = Array(Form.encode(pairs).utf8)
        return inner
    }

    /// The client that a refresh token was given to. Whether it is good is for the grant to say.
    private func holder(of text: String) async throws(Problem) -> String {
        guard let token = context.mint.readRefreshToken(text) else {
            throw GrantRefusal.invalidRefreshToken.problem
        }
        let found = try await reading { () throws(LogFailure) in
            try await context.queries.session(token.session, in: context.place.realm)
        }
        guard let found else { throw GrantRefusal.invalidRefreshToken.problem }
        return found.terms.clientID
    }

    private func known(_ clientID: String) async throws(Problem) -> KnownClient? {
        guard clientID.utf8.count <= 128, !clientID.utf8.contains(0) else { return nil }
        return try await reading { () throws(LogFailure) in
            try await context.clients.fresh(clientID, in: context.place.realm)
        }
    }

    fileprivate func guardResource() async throws(Problem) -> Response {
        let clientID = try required("client_id")
        guard let known = try await known(clientID), !known.isDisabled else {
            throw Problem(.invalidRequest, "There is no such client.")
        }
        guard let token = try await shownToken(), let account = token.session.terms.account else {
            return try loginNeeded(clientID, known.metadata)
        }
        if let resource = text("resource"), !token.audience.contains(resource) {
            throw Problem(.insufficientScope)
        }
        for name in Scope.parse(text("scope") ?? "") ?? [] where !token.scope.contains(name) {
            throw Problem(.insufficientScope)
        }
        var members: JSONObject = [
            "sub": .string(context.mint.subject(of: token.session.terms)),
            "client_id": .string(token.session.terms.clientID),
            "exp": .integer(token.expiresAt.seconds),
        ]
        let partner = try await businessPartner(of: account)
        members["business_partner_id"] = partner.map { .string($0) }
        var response = Response.json(.ok, .object(members))
        response.headers["Urd-Subject"] = members["sub"]?.string
        // What somebody typed for it is no header before it was looked at.
        if let partner, partner.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            response.headers["Urd-Business-Partner"] = partner
        }
        return response
    }

    private func shownToken() async throws(Problem) -> PresentedToken? {
        let lines = request.headers.all("Authorization")
        let scheme = "bearer "
        guard lines.count == 1, let line = lines.first,
            String(line.unicodeScalars.prefix(scheme.utf8.count)).lowercased() == scheme
        else { return nil }
        return try await context.present(
            String(line.unicodeScalars.dropFirst(scheme.utf8.count)))
    }

    private func loginNeeded(
        _ clientID: String, _ metadata: ClientMetadata
    ) throws(Problem) -> Response {
        let registered = metadata.redirectURIs
        let asked = text("redirect_uri") ?? (registered.count == 1 ? registered.first : nil)
        guard let redirect = asked, RedirectRule.leads(redirect, to: registered) else {
            throw Problem(.invalidRequest, "redirect_uri is not one of the client's.")
        }
        let page = context.place.issuer + "/authorize"
        let query = [
            ("response_type", "code"), ("client_id", clientID), ("redirect_uri", redirect),
            ("state", newID().description),
        ].map { "\($0.0)=\(Percent.encode($0.1))" }.joined(separator: "&")
        let isMissing = request.headers["Authorization"] == nil
        var response = Response.json(
            .unauthorized,
            [
                "error": isMissing ? "login_required" : "invalid_token",
                "redirect_url": .string("\(page)?\(query)"),
            ])
        response.headers["Location"] =
            metadata.loginLocation == .bare ? page : "\(page)?\(query)"
        response.headers["WWW-Authenticate"] =
            isMissing ? #"Bearer realm="urd""# : #"Bearer realm="urd", error="invalid_token""#
        return response
    }

    /// What other systems of the realm know a person by.
    func businessPartner(of account: UUID) async throws(Problem) -> String? {
        let events = try await reading { () throws(LogFailure) in
            try await context.commands.events.stream(account, after: 0, in: context.place.realm)
        }
        guard let known = KnownPerson(events), !known.isErased else { return nil }
        return known.person.externalID
    }
}
