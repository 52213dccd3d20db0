internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

extension Call<RealmContext> {
    /// Answers at the authorization endpoint: with a code, a refusal, or a page that comes before.
    func authorize() async throws(Problem) -> Response {
        let parameters = try authorizationParameters()
        do throws(AuthorizationRefusal) {
            if let sealed = parameters["continue"] { return try await resume(sealed) }
            return try await begin(parameters)
        } catch {
            switch error {
            case .told(let problem): throw problem
            case .sent(let fault, let target):
                return target.refusal(
                    fault, issuer: context.place.issuer, in: PageLook(context.place, request))
            case .held(let fault, let target):
                return target.heldRefusal(
                    fault, issuer: context.place.issuer, in: PageLook(context.place, request))
            }
        }
    }

    private func begin(
        _ parameters: AuthorizationParameters
    ) async throws(AuthorizationRefusal) -> Response {
        guard !parameters.repeated.contains("client_id"), let name = parameters["client_id"] else {
            throw .told(Problem(.invalidRequest, "client_id is required, once."))
        }
        return try await with(name) { known throws(AuthorizationRefusal) in
            let reader = AuthorizationReader(context: context, clientID: name, known: known)
            var asked: AuthorizationRequest
            if let uri = parameters["request_uri"] {
                guard parameters["request"] == nil, !parameters.repeated.contains("request") else {
                    throw reader.refusal(
                        AuthorizationFault(
                            .invalidRequest, "request and request_uri do not come together."),
                        beside: parameters)
                }
                asked = try reader.pushed(uri, beside: parameters)
            } else {
                asked = try await reader.whole(parameters)
                guard !known.metadata.needsPushedRequests else {
                    throw .sent(
                        AuthorizationFault(.invalidRequest, "The client pushes its requests."),
                        asked.target)
                }
            }
            return try await proceed(&asked, known, isReturn: false)
        }
    }

    /// The user comes back from a page that stood in between.
    private func resume(_ sealed: String) async throws(AuthorizationRefusal) -> Response {
        guard var asked = context.authorizationRequest(sealed) else {
            throw .told(
                Problem(.invalidRequest, "This page was open for too long: please start again."))
        }
        return try await with(asked.clientID) { known throws(AuthorizationRefusal) in
            guard known.id == asked.client, known.metadata.grantTypes.contains(.authorizationCode),
                RedirectRule.leads(asked.target.redirectURI, to: known.metadata.redirectURIs)
            else { throw .told(Problem(.invalidRequest, "There is no such client.")) }
            let isReturn = !asked.isUnanswered
            asked.isUnanswered = false
            return try await proceed(&asked, known, isReturn: isReturn)
        }
    }

    /// The client as it was a moment ago; as it is now, before anything is refused for it.
    private func with(
        _ clientID: String,
        _ answer: (KnownClient) async throws(AuthorizationRefusal) -> Response
    ) async throws(AuthorizationRefusal) -> Response {
        let realm = context.place.realm
        let isName = clientID.utf8.count <= 128 && !clientID.utf8.contains(0)
        let recent = try await told { () throws(Problem) -> KnownClient? in
            guard isName else { return nil }
            return try await reading { () throws(LogFailure) in
                try await context.clients.recent(clientID, in: realm)
            }
        }
        if let recent, !recent.isDisabled, !recent.metadata.rules.isTenant {
            do throws(AuthorizationRefusal) {
                return try await named(recent, answer)
            } catch {
                let fresh = try await fresh(clientID)
                guard let fresh, fresh != recent, !fresh.isDisabled,
                    !fresh.metadata.rules.isTenant
                else { throw error }
                return try await named(fresh, answer)
            }
        }
        guard isName, let fresh = try await fresh(clientID), !fresh.isDisabled,
            !fresh.metadata.rules.isTenant
        else {
            throw .told(Problem(.invalidRequest, "There is no such client."))
        }
        return try await named(fresh, answer)
    }

    /// A page that tells what is wrong names the app, if that is checked. An unchecked one leads no user
    /// on who has not agreed to it before (RFC 9700 section 4.11.2).
    private func named(
        _ known: KnownClient, _ answer: (KnownClient) async throws(AuthorizationRefusal) -> Response
    ) async throws(AuthorizationRefusal) -> Response {
        do throws(AuthorizationRefusal) {
            return try await answer(known)
        } catch {
            switch error {
            case .held: throw error
            case .told(var problem):
                guard !known.metadata.isUnchecked else { throw error }
                problem.appName = known.metadata.clientName
                throw .told(problem)
            case .sent(let fault, let target):
                let mayGoOn = try await told { () throws(Problem) in
                    try await mayLead(known, to: target.place)
                }
                throw mayGoOn ? error : .held(fault, target)
            }
        }
    }

    private func fresh(_ clientID: String) async throws(AuthorizationRefusal) -> KnownClient? {
        try await told { () throws(Problem) in
            try await reading { () throws(LogFailure) in
                try await context.clients.fresh(clientID, in: context.place.realm)
            }
        }
    }

    /// What is wrong on our side is never the client's to hear.
    func told<Value>(
        _ body: () async throws(Problem) -> Value
    ) async throws(AuthorizationRefusal) -> Value {
        do throws(Problem) { return try await body() } catch { throw .told(error) }
    }

    /// A valid request: which user answers it, and whether they agree.
    private func proceed(
        _ asked: inout AuthorizationRequest, _ known: KnownClient, isReturn: Bool
    ) async throws(AuthorizationRefusal) -> Response {
        if isFormWithoutBrowser {
            asked.isUnanswered = !isReturn
            return try detour(to: AuthorizeRoutes.path, asked)
        }
        let browser = try await told { () throws(Problem) -> SignedInBrowser? in
            try await BrowserSessions(self).current()
        }
        let now = context.clock.now()
        let isMute = asked.prompts.contains(.none)
        let step = asked.step(for: browser, at: now, isReturn: isReturn) { account in
            context.mint.subject(account, in: known.metadata.sector)
        }
        switch step {
        case .refuse(let fault): throw .sent(fault, asked.target)
        case .login:
            guard !isMute else {
                throw .sent(
                    AuthorizationFault(.loginRequired, "The user has to sign in."), asked.target)
            }
            if !isReturn { asked.askedIn = browser?.id }
            return try detour(to: "/login", asked)
        case .goOn(let browser):
            if try await needsConsent(asked, known, browser) {
                guard !isMute else {
                    throw .sent(
                        AuthorizationFault(.consentRequired, "The user has to consent."),
                        asked.target)
                }
                if !isReturn { asked.askedIn = browser.id }
                return try detour(to: "/consent", asked)
            }
            return try await giveCode(asked, browser)
        }
    }

    private func detour(
        to page: String, _ asked: AuthorizationRequest
    ) throws(AuthorizationRefusal) -> Response {
        guard let sealed = context.sealed(asked) else { throw .told(Problem(.internalError)) }
        // It stands in addresses, of which proxies bear so much.
        guard sealed.utf8.count <= 7_000 else {
            throw .sent(
                AuthorizationFault(.invalidRequest, "The request is too long."), asked.target)
        }
        var response = Response(status: .seeOther, headers: Headers(), body: [])
        response.headers["Location"] = "\(page)?continue=\(sealed)"
        return response
    }

    private func needsConsent(
        _ asked: AuthorizationRequest, _ known: KnownClient, _ browser: SignedInBrowser
    ) async throws(AuthorizationRefusal) -> Bool {
        guard known.metadata.asksForConsent else { return false }
        let id = context.mint.consent(of: browser.subject, to: known.id)
        let found = try await told { () throws(Problem) in
            try await context.ask(ConsentView.byID, id)
        }
        let place = asked.shownPlace(of: known.metadata)
        guard let agreed = found?.given.agreed(leadingTo: place), agreed.covers(asked.toAgree)
        else { return true }
        // To this very request, however often and however lately to others.
        return asked.prompts.contains(.consent) && asked.agreedIn != browser.id
    }

    private func giveCode(
        _ asked: AuthorizationRequest, _ browser: SignedInBrowser
    ) async throws(AuthorizationRefusal) -> Response {
        if let pushed = asked.pushed {
            try await use(pushed, asked, browser)
        }
        let lifetime = context.place.settings[SettingCatalogue.codeLifetime]
        guard let redirect = SecretDigest.of(asked.target.redirectURI) else {
            throw .told(Problem(.internalError))
        }
        var code = AuthorizationCode(
            id: context.newID(), client: asked.client, account: browser.subject,
            browser: browser.id,
            redirect: redirect, namesRedirect: asked.namesRedirect, challenge: asked.challenge,
            scope: asked.scope, resources: asked.resources, nonce: asked.nonce,
            idTokenClaims: asked.idTokenClaims, userInfoClaims: asked.userInfoClaims,
            authenticatedAt: browser.authenticatedAt,
            factors: browser.methods.compactMap(AuthenticationFactor.init),
            expiresAt: context.clock.now().adding(seconds: lifetime), key: asked.key,
            level: asked.neededLevel(of: browser), issuer: context.place.issuer)
        code.removals = browser.removals
        guard let text = context.mint.authorizationCode(code) else {
            throw .told(Problem(.internalError))
        }
        return asked.target.answer(
            [("code", text)], issuer: context.place.issuer, in: PageLook(context.place, request))
    }

    private func use(
        _ pushed: UUID, _ asked: AuthorizationRequest, _ browser: SignedInBrowser
    ) async throws(AuthorizationRefusal) {
        let command = PushedRequestChange.use(
            pushed, account: browser.subject, client: asked.client)
        let refusal: PushedRequestChange.UseRejection?
        do throws(Problem) {
            refusal = try await Commands(self).attempt(
                command, as: .user(browser.subject, client: asked.clientID))
        } catch {
            throw .told(error)
        }
        guard refusal == nil else {
            throw .sent(
                AuthorizationFault(.invalidRequestURI, "The pushed request was used before."),
                asked.target)
        }
    }
}
