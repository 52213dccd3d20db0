internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The places and letters that apps of the voo profile know: see decision 0021.
enum VooRoutes {
    static func table(_ grants: GrantForms) -> [Route<RealmContext>] {
        let endpoint = TokenRoutes.token(grants)
        return [
            AuthorizeRoutes.authorize(.get, "/authorize", id: "vooAuthorize"),
            AuthorizeRoutes.authorize(.post, "/authorize", id: "vooAuthorizeByForm"),
            token("/token", id: "vooToken", as: endpoint),
            token("/Token", id: "vooTokenCapital", as: endpoint), ResourceGuard.route,
        ]
    }

    private static func token(
        _ path: PathTemplate, id: String, as endpoint: Route<RealmContext>
    ) -> Route<RealmContext> {
        Route(
            .post, path, id: id, tag: "Voo",
            summary: "Issues tokens to apps of the voo profile.",
            detail: """
                As `/connect/token`, with the parameters in the query or a form. A public client \
                need not name itself to refresh. Proofs of keys are for the address that is called.
                """,
            right: .nothing, voice: .oauth,
            answer: .ok("The tokens.", .openObject, example: [:]),
            refusals: Place.refusals + [
                .invalidRequest, .invalidClient, .invalidGrant, .invalidScope, .invalidTarget,
                .unauthorizedClient, .unsupportedGrantType, .rateLimited,
            ]
        ) { call throws(Problem) in
            let request = try await call.vooTokenRequest()
            let context = call.context
            return try await Endpoint(endpoint) { _, _ throws(Problem) in context }
                .answer(request, [])
        }
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
            // What has no value was not sent (RFC 6749 section 3.2).
            pairs += read.filter { !$0.value.isEmpty }
        }
        let clientID: String
        if let shown = try shownClient(pairs) {
            clientID = shown
        } else {
            clientID = try await holder(
                of: pairs.first { $0.name == "refresh_token" }?.value ?? "")
            pairs.append(("client_id", clientID))
        }
        guard let known = try await vooClient(clientID), known.metadata.rules.hasLoginGuard else {
            throw Problem(.invalidClient)
        }
        // Its address stays what was called: proofs of keys are for that one (RFC 9449 section 4.3).
        var inner = request
        inner.query = nil
        inner.headers["Content-Type"] = "application/x-www-form-urlencoded"
        inner.body = Array(Form.encode(pairs).utf8)
        return inner
    }

    /// A client that authenticates needs no `client_id` beside it (RFC 6749 section 4.1.3).
    private func shownClient(_ pairs: [Form.Pair]) throws(Problem) -> String? {
        var named: JSONObject = [:]
        for pair in pairs { named[pair.name] = .string(pair.value) }
        guard
            request.headers["Authorization"] != nil || named["client_id"] != nil
                || named["client_assertion"] != nil
        else { return nil }
        let credentials = try ClientCredentials(request, body: .object(named))
        guard let clientID = try context.name(of: credentials) else {
            throw Problem(.invalidClient)
        }
        return clientID
    }

    /// The client that a refresh token was given to. Whether it is good is for the grant to say.
    private func holder(of text: String) async throws(Problem) -> String {
        guard let token = context.mint.readRefreshToken(text) else {
            throw GrantRefusal.invalidRefreshToken.problem
        }
        let found = try await context.ask(SessionLine.bySession, token.session)?.session
        guard let found else { throw GrantRefusal.invalidRefreshToken.problem }
        return found.terms.clientID
    }

    func vooClient(_ clientID: String) async throws(Problem) -> KnownClient? {
        guard clientID.utf8.count <= 128, !clientID.utf8.contains(0) else { return nil }
        return try await reading { () throws(LogFailure) in
            try await context.clients.fresh(clientID, in: context.place.realm)
        }
    }
}
