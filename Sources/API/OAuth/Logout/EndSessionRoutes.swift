internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Where clients send people who log out with them (OpenID Connect RP-Initiated Logout).
enum EndSessionRoutes {
    static let table: [Route<RealmContext>] = [
        route(.get, id: "endBrowserSessionOfClient"),
        route(.post, id: "endBrowserSessionOfClientByForm"),
    ]

    static let path = "/connect/logout"

    private static func route(_ method: Method, id: String) -> Route<RealmContext> {
        Route(
            method, PathTemplate(stringLiteral: path), id: id, tag: "OAuth",
            summary: "Logs a browser out for a client that shows its ID token.",
            detail: """
                Takes id_token_hint, client_id, post_logout_redirect_uri, state and ui_locales. \
                Without a hint of the browser's own sign-in the person is asked, and sent nowhere \
                afterwards. If no user is signed in, no session ends: a client that shall lose its tokens \
                gives them back at /connect/revoke.
                """,
            right: .nothing, voice: .page,
            answer: Answer(
                status: .seeOther, description: "To the client, or to a page of the realm.",
                content: .nothing, headers: [("Location", "URL of the redirect.")]),
            refusals: Place.refusals + [.invalidRequest]
                + (method == .post ? [.unsupportedMediaType] : [])
        ) { call throws(Problem) in
            try await call.endSession()
        }
    }
}

extension Call<RealmContext> {
    fileprivate func endSession() async throws(Problem) -> Response {
        let parameters = try authorizationParameters()
        guard parameters.repeated.isEmpty else {
            throw Problem(.invalidRequest, "A parameter is given more than once.")
        }
        guard !isFormWithoutBrowser else { return try byAddress(parameters) }
        let languages = parameters["ui_locales"]
        guard let text = parameters["id_token_hint"] else {
            let page = try await BrowserSessions(self).current() == nil ? "/logged-out" : "/logout"
            return .seeOther(LocalizedText.page(page, in: languages))
        }
        guard let hint = try await context.hinted(text),
            parameters["client_id"].map({ $0 == hint.clientID }) ?? true
        else { throw Problem(.invalidRequest, "id_token_hint is no ID token of this client.") }
        let onward = try await afterLogout(parameters, hint.clientID)
        let browser = try await BrowserSessions(self).current()
        guard let id = hint.session, let session = try await ofHint(id, hint) else {
            // The logout is not reported as done while the browser still has a session: its person is asked.
            return browser == nil ? onward : .seeOther(LocalizedText.page("/logout", in: languages))
        }
        let asking = AskingClient(session: id, client: session.client)
        // An ID token is no proof of who shows it: a stranger may have kept an old one.
        guard let browser else { return onward }
        let line = try await SessionEnds(self).line(of: browser)
        // The hint is of another account, or of an app outside this browser: the user is asked
        // first.
        guard session.account == browser.subject, session.browser == line else {
            return .seeOther(LocalizedText.page("/logout", in: languages))
        }
        try await SessionEnds(self).logOut(browser, alsoEnding: asking)
        var response = onward
        response.headers.append("Set-Cookie", PageCookie.session.removal)
        return response
    }

    /// The same request by GET: what it asks for is done there, where it is known who is signed in.
    private func byAddress(_ parameters: AuthorizationParameters) throws(Problem) -> Response {
        let names = [
            "id_token_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales",
        ]
        let pairs = names.compactMap { name in parameters[name].map { (name: name, value: $0) } }
        let query = Form.encode(pairs)
        // Proxies bear so much of an address.
        guard query.utf8.count <= 7_000 else {
            throw Problem(.invalidRequest, "The request is too long.")
        }
        return .seeOther(EndSessionRoutes.path + (query.isEmpty ? "" : "?" + query))
    }

    /// Only to a place that the client of the hint was registered with; of an unchecked client to a page
    /// that names it first, but for a person who has agreed that the client leads them there.
    private func afterLogout(
        _ parameters: AuthorizationParameters, _ clientID: String
    ) async throws(Problem) -> Response {
        let languages = parameters["ui_locales"]
        guard let uri = parameters["post_logout_redirect_uri"] else {
            return .seeOther(LocalizedText.page("/logged-out", in: languages))
        }
        let known = try await reading { () throws(LogFailure) in
            try await context.clients.fresh(clientID, in: context.place.realm)
        }
        guard let known, !known.isDisabled,
            RedirectRule.leads(uri, to: known.metadata.logoutRedirectURIs)
        else {
            throw Problem(
                .invalidRequest,
                "post_logout_redirect_uri is not one that the client was registered with.")
        }
        let state = parameters["state"].map {
            (uri.utf8.contains(0x3F) ? "&" : "?") + "state=\(Percent.encode($0))"
        }
        let address = uri + (state ?? "")
        let place = AuthorizationTarget.place(of: uri)
        guard try await mayLead(known, to: place) else {
            return UncheckedClientPage(place: place, way: .link(address))
                .response(.ok, in: PageLook(context.place, request, languages: languages))
        }
        return .seeOther(address)
    }

    private func ofHint(
        _ id: UUID, _ hint: HintedSignIn
    ) async throws(Problem) -> SessionTerms? {
        let found = try await context.ask(SessionLine.bySession, id)?.session
        guard let terms = found?.terms, terms.clientID == hint.clientID,
            context.mint.subject(of: terms) == hint.subject
        else { return nil }
        return terms
    }
}
