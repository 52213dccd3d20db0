internal import Cryptography
internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import OneTimeCodes
internal import Values

/// What routes do with providers.
extension Call<RealmContext> {
    func providers() async throws(Problem) -> [Provider] {
        try await RealmLookups(context).folded(Providers.self, Providers.stream).all
    }

    func provider(_ slug: String) async throws(Problem) -> Provider? {
        try await RealmLookups(context).folded(Providers.self, Providers.stream)[slug]
    }

    /// Sends the user to a provider.
    func begin(
        _ provider: Provider, to returnTarget: ReturnTarget, place: String?, links: UUID? = nil
    ) async throws(Problem) -> Response {
        guard let metadata = await context.upstream.metadata(of: provider.issuer) else {
            throw Problem(.unavailable)
        }
        // Each has an address of its own, so that none answers in the name of another (RFC 9700 section
        // 4.4.2); where the profile knows one address alone, the answer's issuer has to do.
        let isShared = context.place.settings.rules.sharesProviderRedirect
        let redirect =
            context.place.links + "/oidc/redirect" + (isShared ? "" : "/\(provider.slug)")
        let pending = PendingUpstream(
            id: context.newID(), provider: provider, redirect: redirect, returnTarget: returnTarget,
            place: place,
            links: links)
        let mint = context.mint
        guard let cookie = mint.seal(pending.json, for: .upstream) else {
            throw Problem(.internalError)
        }
        let verifier = mint.upstreamVerifier(pending.id)
        let scope = ["openid"] + provider.scope.filter { $0 != "openid" }
        let query = Form.encode([
            ("response_type", "code"), ("client_id", provider.clientID),
            ("redirect_uri", redirect), ("scope", scope.joined(separator: " ")),
            ("state", mint.upstreamState(pending.id)),
            ("nonce", mint.upstreamNonce(pending.id)),
            ("code_challenge", Base64URL.encode(SHA256.hash(Array(verifier.utf8)))),
            ("code_challenge_method", "S256"),
        ])
        let address = metadata.authorization
        var response = Response.seeOther(
            address + (address.utf8.contains(0x3F) ? "&" : "?") + query)
        response.headers.append(
            "Set-Cookie",
            PageCookie.upstream.line(cookie, seconds: PendingUpstream.lifetime))
        return response
    }

    /// Whom this browser was sent to, if this is the answer to that.
    func pendingUpstream() -> PendingUpstream? {
        guard let text = request.cookie(PageCookie.upstream.rawValue),
            let json = context.mint.unseal(text, for: .upstream),
            let pending = PendingUpstream(json), let begun = pending.id.timestamp,
            context.clock.now() < begun.adding(seconds: PendingUpstream.lifetime),
            let state = self.text("state"),
            context.mint.version(ofUpstreamState: state, pending.id) != nil
        else { return nil }
        return pending
    }

    /// Whom the provider names in its answer.
    func person(
        of pending: PendingUpstream, _ provider: Provider
    ) async -> UpstreamPerson? {
        guard let code = text("code"), !code.isEmpty,
            let metadata = await context.upstream.metadata(of: provider.issuer)
        else { return nil }
        // RFC 9207: the answer of another issuer is rejected.
        if let named = text("iss") {
            guard named.utf8.elementsEqual(provider.issuer.utf8) else { return nil }
        } else if metadata.namesItself {
            return nil
        }
        guard let state = text("state"),
            let mint = context.mint.version(ofUpstreamState: state, pending.id),
            let token = await context.upstream.redeem(
                code, verifier: mint.upstreamVerifier(pending.id),
                redirect: pending.redirect, at: provider, metadata)
        else { return nil }
        return await context.upstream.check(
            token, of: provider, metadata, nonce: mint.upstreamNonce(pending.id),
            at: context.clock.now())
    }

    /// A code to be mailed as a second factor, for the account that an identity signs in.
    func nextCode(
        for identity: UUID
    ) async throws(Problem) -> (
        account: UUID?, needsMailed: Bool, next: (id: UUID, digest: SecretDigest)
    ) {
        let account = try await RealmLookups(context).folded(ProviderIdentity.self, identity).account
        let owner = try await RealmLookups(context).folded(Owner.self, Owner.stream)
        let next = context.newID()
        guard
            let digest = context.mint.digest(
                ofMailedCode: context.mint.code(next),
                in: MailedCode.stream(of: account ?? .zero, .secondFactor))
        else { throw Problem(.internalError) }
        let needsMailed = account != nil && owner.account == account && owner.needsMailedCode
        return (account, needsMailed, (next, digest))
    }

    /// Signs in whom a provider named, or asks for what is missing.
    func signIn(
        _ identity: UUID, _ upstream: UUID?, _ slug: String, attempt: UUID?, _ visit: Visit,
        to place: String
    ) async throws(Problem) -> Response {
        let (_, needsMailed, next) = try await nextCode(for: identity)
        if needsMailed { try RateCounter(self).countRealm(.ownerMail) }
        let end = try await signIn(
            ProviderProof(
                identity: identity, upstream: upstream, provider: slug, sessionName: attempt,
                next: next), by: .provider, visit, to: ReturnTarget(), place: place)
        switch end {
        case .signedIn(let response): return response
        case .refused(.secondFactorRequired):
            let step = UpstreamStep(
                identity: identity, upstream: upstream, provider: slug, place: place,
                code: needsMailed ? next.id : nil, form: visit.formName,
                until: context.clock.now().adding(seconds: UpstreamStep.lifetime))
            return try secondPage(visit, step, isWrong: false)
        case .refused(.unknownIdentity):
            return visit.notice(
                visit.say("Not connected yet", "Noch nicht verbunden"),
                visit.say(
                    "This account is not connected to one here. Sign in another way first, then connect it under Security.",
                    "Dieses Konto ist hier mit keinem verbunden. Melden Sie sich erst anders an und verbinden Sie es dann unter „Sicherheit“."
                ), .forbidden,
                link: (visit.say("Back to sign in", "Zurück zur Anmeldung"), "/login"))
        case .refused: return upstreamFailed(visit)
        }
    }

    func secondPage(
        _ visit: Visit, _ step: UpstreamStep, isWrong: Bool
    ) throws(Problem) -> Response {
        guard let ticket = context.mint.seal(step.json, for: .upstreamStep) else {
            throw Problem(.internalError)
        }
        guard step.code != nil else {
            return CodePage.secondFactor(
                visit, isWrong, isWrong ? .badRequest : .ok, action: "/oidc/twofactor",
                leadsAway: true
            ) { Parts.hidden("ticket", ticket) }
        }
        return OwnerCodePage(
            visit: visit, action: "/oidc/twofactor", isWrong: isWrong
        ).response { Parts.hidden("ticket", ticket) }
    }

    func upstreamFailed(_ visit: Visit) -> Response {
        visit.notice(
            visit.say("That did not work", "Das hat nicht geklappt"),
            visit.say(
                "You are not signed in. Please try again.",
                "Sie sind nicht angemeldet. Bitte versuchen Sie es noch einmal."), .badRequest,
            link: (visit.say("Back to sign in", "Zurück zur Anmeldung"), "/login"))
    }
}
