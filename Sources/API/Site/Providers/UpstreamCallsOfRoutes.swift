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
    /// Sends the user to a provider.
    func visitProvider(
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
}
