internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

/// Signing in by what an OpenID provider says.
enum ProviderRoutes {
    static let table: [Route<RealmContext>] = [logout]
    static let pageTable: [Route<RealmContext>] = [
        start, returned("/oidc/redirect", id: "returnFromProvider"),
        returned("/oidc/redirect/{provider}", id: "returnFromNamedProvider"), second,
        connect, disconnect,
    ]

    private static let refusals = Page.refusals + [.noSuchRoute, .invalidRequest]

    static func start(_ provider: ProviderLabel, _ returnTarget: ReturnTarget) -> String {
        let link = returnTarget.link("/oidc/start")
        let pair = Form.encode([("provider", provider.slug)])
        return link + (link.utf8.contains(0x3F) ? "&" : "?") + pair
    }

    private static let start = Route<RealmContext>(
        .get, "/oidc/start", id: "startAtProvider", tag: "Pages",
        summary: "Redirects to an OpenID provider.", right: .nothing, voice: .page,
        parameters: ReturnTarget.parameters + [
            Parameter(
                "provider", in: .query, .text(0...40),
                "Name of the provider; the first one by default."),
            Parameter(
                "redirect", in: .query, .text(0...4096), "Page to return to after the sign-in."),
        ], answer: .page, refusals: refusals
    ) { call throws(Problem) in
        try RateCounter(call).count(.provider)
        let known = try await RealmLookups(call.context).providers()
        let slug = call.text("provider")
        guard let provider = slug.map({ slug in known.first { $0.slug == slug } }) ?? known.first
        else { throw Problem(.noSuchRoute) }
        let takesReturn = call.context.place.settings.rules.takesProviderReturn
        let place =
            takesReturn && call.text("redirect") != nil
            ? RealmRedirect(call.text("redirect"), call.context.place).target : nil
        return try await call.visitProvider(provider, to: ReturnTarget(call), place: place)
    }

    private static func returned(_ path: PathTemplate, id: String) -> Route<RealmContext> {
        let named = path.description.hasSuffix("}")
        return Route(
            .get, path, id: id, tag: "Pages", summary: "Receives the redirect of a provider.",
            right: .nothing, voice: .page,
            parameters: (named
                ? [Parameter("provider", in: .path, .text(1...40), "Name of the provider.")] : [])
                + ["code", "state", "iss", "error", "error_description", "session_state"].map {
                    Parameter(
                        $0, in: .query, .text(0...8_192),
                        "Parameter of the provider's authorization response.")
                }, answer: .page, refusals: refusals
        ) { call throws(Problem) in
            let visit = try await PageRequest(call).visit()
            var response = try await answer(call, visit)
            // The cookie is single-use, also after a failure.
            response.headers.append("Set-Cookie", PageCookie.upstream.removal)
            return response
        }
    }

    private static func answer(
        _ call: Call<RealmContext>, _ visit: PageVisit
    ) async throws(Problem) -> Response {
        try RateCounter(call).count(.provider)
        guard let pending = call.pendingUpstream(),
            call.text("provider").map({ $0 == pending.provider }) ?? true,
            let provider = try await RealmLookups(call.context).provider(pending.provider),
            provider.issuer.utf8.elementsEqual(pending.issuer.utf8),
            let person = await call.person(of: pending, provider)
        else { return ProviderSignIns(call).failed(visit) }
        let mint = call.context.mint
        let identity = mint.identity(person.subject, at: provider.issuer)
        if let links = pending.links {
            guard let browser = visit.browser, browser.id == links,
                PageRequest(call).isRecent(browser)
            else { return ProviderSignIns(call).failed(visit) }
            let rejection = try await Commands(call).attempt(
                LinkIdentity(
                    identity: identity,
                    place: mint.accountIdentity(browser.subject, at: provider.slug),
                    account: browser.subject, provider: provider.slug, subject: person.subject,
                    mail: call.context.newID()), as: .browser(browser))
            switch rejection {
            case nil:
                return pending.returnTarget.path.map { .seeOther($0.text) }
                    ?? .seeOther(.security, .providerConnected)
            case .linkedElsewhere?:
                return visit.notice(
                    visit.say("Already connected", "Schon verbunden"),
                    visit.say(
                        "That account is connected to another account here.",
                        "Dieses Konto ist hier mit einem anderen verbunden."), .badRequest,
                    link: (visit.say("Back", "Zurück"), "/account/security"))
            case let rejection?: throw rejection.problem
            }
        }
        return try await ProviderSignIns(call).signIn(
            identity, person.session.map { mint.upstreamSession($0, at: provider.issuer) },
            provider.slug, attempt: pending.id, visit,
            to: pending.place ?? pending.returnTarget.target)
    }

    private static let second = Route<RealmContext>(
        .post, "/oidc/twofactor", id: "loginByProviderAndSecondFactor", tag: "Pages",
        summary: "Checks the second factor after a sign-in by a provider.", right: .nothing,
        voice: .page,
        body: .page([
            .optional("ticket", .text(0...4096), "Ticket with the identity at the provider."),
            .optional(
                "totp", .text(0...128), "TOTP code of the authenticator app, or a recovery code."),
            .optional("two-factor-passcode", .text(0...64), "Code from the mail."),
        ]), answer: .page, refusals: refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        let mint = call.context.mint
        guard let json = mint.unseal(call.body["ticket"]?.string ?? "", for: .upstreamStep),
            let step = UpstreamStep(json), step.form == visit.formName,
            call.context.clock.now() < step.until
        else { return ProviderSignIns(call).failed(visit) }
        let (account, _, next) = try await ProviderSignIns(call).nextCode(for: step.identity)
        guard let account else { return ProviderSignIns(call).failed(visit) }
        try RateCounter(call).count(.twoFactor, target: account.description)
        let second = SecondFactors(call).typed(call.body["totp"]?.string)
        var typed: TypedMailedCode?
        if let code = step.code {
            let digits = trimmed(call.body["two-factor-passcode"]?.string ?? "")
            let stream = MailedCode.stream(of: account, .secondFactor)
            typed = TypedMailedCode(
                id: code, shown: mint.shown { $0.digest(ofMailedCode: digits, in: stream) })
        } else if second == nil {
            return try ProviderSignIns(call).secondPage(visit, step, isWrong: true)
        }
        var proof = ProviderProof(
            identity: step.identity, upstream: step.upstream, provider: step.provider,
            sessionName: nil, second: second, typed: typed, next: next)
        proof.delegated = step.delegated
        let end = try await BrowserSignIns(call).signIn(
            proof, by: .provider, visit, to: ReturnTarget(), place: step.place)
        switch end {
        case .signedIn(let response): return response
        case .refused(.invalidSecondFactor):
            return try ProviderSignIns(call).secondPage(visit, step, isWrong: true)
        case .refused: return ProviderSignIns(call).failed(visit)
        }
    }

    private static let connect = AccountRoute.change(
        "/account/providers/connect", id: "connectProvider",
        "Lets what a provider says sign in to one's account.",
        [.optional("provider", .text(0...40), "Name of the provider.")] + ReturnTarget.members,
        from: .security
    ) { call, frame throws(Problem) in
        guard
            let provider = try await RealmLookups(call.context).provider(
                call.body["provider"]?.string ?? "")
        else {
            throw Problem(.noSuchRoute)
        }
        return try await call.visitProvider(
            provider, to: ReturnTarget(call), place: nil, links: frame.browser.id)
    }

    private static let disconnect = AccountRoute.change(
        "/account/providers/disconnect", id: "disconnectProvider",
        "Lets what a provider says sign in to one's account no more.",
        [.optional("provider", .text(0...40), "Name of the provider.")], from: .security
    ) { call, frame throws(Problem) in
        let slug = call.body["provider"]?.string ?? ""
        let rejection = try await Commands(call).attempt(
            UnlinkIdentity(
                place: call.context.mint.accountIdentity(frame.account, at: slug),
                account: frame.account, provider: slug), as: .browser(frame.browser))
        switch rejection {
        case nil, .notLinked?: return .seeOther(.security, .providerDisconnected)
        case let rejection?: throw rejection.problem
        }
    }

    private static let logout = Route<RealmContext>(
        .post, "/oidc/{context}/logout", id: "logOutByProvider", tag: "OAuth",
        summary: "Receives a back-channel logout of a provider.",
        detail: """
            OpenID Connect Back-Channel Logout. The context is any text: the token says whose it is. \
            With `sid` all ends that this session at the provider opened, else all of the account.
            """,
        right: .nothing, voice: .oauth,
        parameters: [
            Parameter(
                "context", in: .path, .text(1...64), "Context of the realm in the URL; any text.",
                example: "acme")
        ],
        body: .form(
            .object(
                .optional(
                    "logout_token", .text(0...16_384),
                    "Logout token of the provider (Back-Channel Logout).")),
            example: ["logout_token": "eyJ…"]),
        answer: Answer(
            status: .ok, description: "The session here has ended as well.", content: .nothing),
        refusals: Place.refusals + [.invalidRequest, .rateLimited]
    ) { call throws(Problem) in
        try RateCounter(call).count(.provider)
        let refused = Problem(.invalidRequest, "The logout token is not valid.")
        guard let (provider, token) = try await call.loggedOut() else { throw refused }
        let mint = call.context.mint
        var whom = LogOutByProvider.Whom.nobody
        if let session = token.session {
            whom = .session(mint.upstreamSession(session, at: provider.issuer))
        } else if let subject = token.subject,
            let account = try await RealmLookups(call.context).folded(
                ProviderIdentity.self, mint.identity(subject, at: provider.issuer)
            ).account
        {
            whom = .account(account)
        }
        let used = UsedLogoutToken(
            issuer: provider.issuer, id: token.id, until: token.expiresAt)
        let caller = Commands.Caller("provider:\(provider.slug)")
        let lines = try await call.lines(of: whom)
        // The clients' sessions first, as when a person signs a browser out, and again: a code may have been
        // redeemed meanwhile.
        try await call.endSessions(from: lines, by: caller)
        let rejection = try await Commands(call).attempt(LogOutByProvider(used, whom), as: caller)
        if let rejection { throw rejection.problem }
        try await call.endSessions(from: lines, by: caller)
        return Response(status: .ok)
    }
}

extension Call<RealmContext> {
    /// The browsers that are signed in by a session at a provider, each by the first of its sessions.
    fileprivate func lines(
        of whom: LogOutByProvider.Whom
    ) async throws(Problem) -> [(account: UUID, line: UUID)] {
        guard case .session(let upstream) = whom else { return [] }
        var lines: [(account: UUID, line: UUID)] = []
        let opened = try await RealmLookups(context).folded(UpstreamSession.self, upstream).opened
        for browser in opened where browser.isBrowser {
            let view = try await context.ask(BrowserSessionView.byID, browser.session)
            guard let view, !view.isOver else { continue }
            lines.append((browser.account, view.terms.line ?? view.id))
        }
        return lines
    }

    fileprivate func endSessions(
        from lines: [(account: UUID, line: UUID)], by caller: Commands.Caller
    ) async throws(Problem) {
        for (account, line) in lines {
            try await SessionEnds(self).endSessions(of: account, from: line, by: caller)
        }
    }

    /// Who is logged out where, as a provider of ours says.
    fileprivate func loggedOut() async throws(Problem) -> (
        provider: Provider, token: LogoutToken
    )? {
        let token = body["logout_token"]?.string ?? ""
        guard let issuer = try? SignedStatement.claimedIssuer(in: token) else { return nil }
        for provider in try await RealmLookups(context).providers()
        where provider.issuer.utf8.elementsEqual(issuer.utf8) {
            guard let metadata = await context.upstream.metadata(of: provider.issuer),
                let found = await context.upstream.checkLogout(
                    token, of: provider, metadata, at: context.clock.now())
            else { continue }
            return (provider, found)
        }
        return nil
    }
}

extension LinkIdentity.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .providerNotFound: Problem(.noSuchProvider)
        case .accountNotFound: Problem(.noSuchAccount)
        case .linkedElsewhere: Problem(.identityTaken)
        }
    }
}

extension UnlinkIdentity.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notLinked: Problem(.noSuchProvider)
        }
    }
}

extension LogOutByProvider.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .used: Problem(.invalidRequest, "The logout token was used before.")
        }
    }
}
