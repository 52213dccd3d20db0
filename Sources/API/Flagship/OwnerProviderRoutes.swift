internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import Values

/// An owner who signs in with an identity at a provider.
enum OwnerProviderRoutes {
    static let table: [Route<RealmContext>] = [tokens]
    static let pageTable: [Route<RealmContext>] = [login, franceConnect]

    private static let tokens = Route<RealmContext>(
        .post, "/oidc/access_token", id: "loginOwnerByProvider", tag: "Flagship",
        summary: "Signs an owner in with the app, by a provider.",
        detail: """
            `code` is a delegated code, `id_token` what the provider signed for the realm, and \
            `oidc_token` an access token of it where the realm takes those. 401 with \
            `two_factor_token` asks for the code that was mailed; an app that is not certified gets a \
            session code and 202 for scope `*`.
            """,
        right: .nothing, voice: .flagship,
        body: Body(
            schema: .openObject,
            example: ["code": "…", "client_id": "…", "client_secret": "…", "scope": "*"],
            maximumBytes: 32 * 1024),
        answer: .ok("Tokens.", .openObject, example: OwnerRoutes.tokens),
        refusals: Place.refusals + [.invalidRequest, .invalidClient, .forbidden, .rateLimited]
    ) { call throws(Problem) in
        try RateCounter(call).count(.provider)
        try RateCounter(call).countRealm(.ownerSignIn)
        guard let shown = try await call.shownToProvider() else {
            throw Problem.said(.invalidRequest, "this endpoint is not enabled")
        }
        let (typed, next) = try await call.mailedStep(after: shown)
        let outcome = try await Commands(call).dispatch(
            SignInOwnerByProvider(
                shown: shown, scope: call.body["scope"]?.string.flatMap(Scope.parse),
                typed: typed, next: next, request: call.ownerRequest(call.body)),
            as: .anonymous)
        guard case .mailedCodeNeeded(let id) = outcome else {
            return try call.ownerResponse(outcome)
        }
        return .json(
            .unauthorized,
            [
                "error": "two factor needed",
                "two_factor_token": .string(call.context.mint.mailedCodeToken(id)),
            ])
    }

    private static let franceConnect = Route<RealmContext>(
        .get, "/oidc/franceconnect", id: "startAtFranceConnect", tag: "Flagship",
        summary: "Redirects to the provider of this name.", right: .nothing, voice: .page,
        parameters: [
            Parameter("redirect", in: .query, .text(0...4096), "Page to return to after the login.")
        ], answer: .page, refusals: Page.refusals + [.noSuchRoute]
    ) { call throws(Problem) in
        let slug = "franceconnect"
        guard try await RealmLookups(call.context).provider(slug) != nil else {
            throw Problem(.noSuchRoute)
        }
        var pairs = [("provider", slug)]
        if let redirect = call.text("redirect") { pairs.append(("redirect", redirect)) }
        return .seeOther("/oidc/start?" + Form.encode(pairs))
    }

    private static let login = Route<RealmContext>(
        .get, "/oidc/login", id: "loginBrowserByDelegatedCode", tag: "Flagship",
        summary: "Signs a browser in by a delegated code.", right: .nothing, voice: .page,
        parameters: [
            Parameter("code", in: .query, .text(0...128), "Delegated code of the provider."),
            Parameter(
                "redirect", in: .query, .text(0...4096), "Page to return to after the login."),
        ], answer: .page, refusals: Page.refusals + [.noSuchRoute, .invalidRequest]
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        try RateCounter(call).countRealm(.ownerSignIn)
        let place = RealmRedirect(call.text("redirect"), call.context.place).target
        guard let code = call.text("code").flatMap(call.context.mint.readDelegatedCode),
            let terms = try await RealmLookups(call.context).folded(DelegatedCode.self, code).terms,
            call.context.clock.now() < terms.expiresAt
        else { return ProviderSignIns(call).failed(visit) }
        // It is single-use, consumed before the owner is signed in: a replay finds nothing.
        guard
            try await Commands(call).attempt(ProviderChange.useDelegatedCode(code), as: .anonymous)
                == nil
        else { return ProviderSignIns(call).failed(visit) }
        return try await ProviderSignIns(call).signIn(
            terms.identity, terms.upstream, terms.provider, delegated: code, attempt: nil, visit,
            to: place)
    }
}

extension Call<RealmContext> {
    /// What the body has in it. Nil: nothing that the realm takes.
    fileprivate func shownToProvider() async throws(Problem) -> SignInOwnerByProvider.Shown? {
        if let text = body["code"]?.string, !text.isEmpty {
            return .code(context.mint.readDelegatedCode(text))
        }
        let known = try await RealmLookups(context).providers()
        if let text = body["id_token"]?.string, !text.isEmpty {
            guard !known.isEmpty else { return nil }
            // By what was signed: of some signatures an attacker makes another one that is as good (ES256).
            let signed = text.utf8.lastIndex(of: UInt8(ascii: ".")).map { text[..<$0] }
            return .token(
                context.mint.use(ofToken: signed.map { String($0) } ?? text),
                try await terms(ofIDToken: text, known))
        }
        guard let text = body["oidc_token"]?.string, !text.isEmpty,
            let provider = known.first(where: \.takesAccessTokens)
        else { return nil }
        var found: UpstreamPerson?
        if let metadata = await context.upstream.metadata(of: provider.issuer) {
            found = await context.upstream.userInfo(text, metadata)
        }
        guard let found else { return .token(context.mint.use(ofToken: text), nil) }
        return .token(
            context.mint.use(ofToken: text), try await terms(of: found, provider))
    }

    private func terms(
        ofIDToken text: String, _ known: [Provider]
    ) async throws(Problem) -> DelegatedCodeTerms? {
        guard let issuer = try? SignedStatement.claimedIssuer(in: text) else { return nil }
        for provider in known where provider.issuer.utf8.elementsEqual(issuer.utf8) {
            guard let metadata = await context.upstream.metadata(of: provider.issuer),
                let person = await context.upstream.check(
                    text, of: provider, metadata, nonce: nil, at: context.clock.now())
            else { continue }
            return try await terms(of: person, provider)
        }
        return nil
    }

    private func terms(
        of person: UpstreamPerson, _ provider: Provider
    ) async throws(Problem) -> DelegatedCodeTerms {
        var terms = DelegatedCodeTerms(
            identity: context.mint.identity(person.subject, at: provider.issuer),
            upstream: person.session.map {
                context.mint.upstreamSession($0, at: provider.issuer)
            }, upstreamName: person.session, provider: provider.slug,
            expiresAt: context.clock.now().adding(seconds: DelegatedCode.lifetime))
        terms.stamp = try await StampsByTime(context.commands, in: context.place.realm)
            .stamp(ofIdentity: terms.identity, at: person.issuedAt)
        return terms
    }

    /// The mailed code that was typed, if one was, and the one that is mailed if none was.
    fileprivate func mailedStep(
        after shown: SignInOwnerByProvider.Shown
    ) async throws(Problem) -> (
        typed: TypedMailedCode?, next: (id: UUID, digest: SecretDigest)
    ) {
        let owner = try await RealmLookups(context).folded(Owner.self, Owner.stream)
        let stream = MailedCode.stream(of: owner.account ?? .zero, .secondFactor)
        let next = context.newID()
        guard
            let digest = context.mint.digest(ofMailedCode: context.mint.code(next), in: stream)
        else { throw Problem(.internalError) }
        let typed = try typedMailedCode(body, in: stream)
        // Who shows nothing good uses nothing up of what is mailed.
        let isGood =
            switch shown {
            case .code(let id): id != nil
            case .token(_, let terms): terms != nil
            }
        if typed == nil, isGood, owner.needsMailedCode {
            try RateCounter(self).countRealm(.ownerMail)
        }
        return (typed, (next, digest))
    }

    /// Ends at its provider the session by which an installation came in, as far as that lets one.
    func endUpstreamSession(of installation: UUID) async throws(Problem) {
        let bound = try await RealmLookups(context).folded(
            InstallationUpstream.self, InstallationUpstream.stream(of: installation))
        guard let slug = bound.provider, let name = bound.name,
            let provider = try await RealmLookups(context).provider(slug)
        else { return }
        await context.upstream.endSession(name, at: provider)
    }
}

extension ProviderChange.UseDelegatedCodeRejection: Refusal {
    var problem: Problem {
        switch self {
        case .codeOver: Problem(.invalidRequest)
        }
    }
}
