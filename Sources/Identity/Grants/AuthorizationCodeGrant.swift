public import EventSourcing
public import Values

/// A code that the authorization endpoint gave out. It is single-use, also where it is rejected; a
/// replay ends the session it opened, for then two clients have it.
public struct AuthorizationCodeGrant: Grant {
    public var code: AuthorizationCode
    /// The stream of the consent that its person gave the client; nil where consent was not asked
    /// for.
    public var consent: UUID?
    /// Digests of what the request names; nil where it names none.
    public var redirect: SecretDigest?
    public var verifier: SecretDigest?
    /// The stream of the ways in which its person signs in within a tenant's apps, where the answer tells them.
    public var methods: UUID?

    public init(
        code: AuthorizationCode, consent: UUID?, redirect: SecretDigest?, verifier: SecretDigest?,
        methods: UUID? = nil
    ) {
        self.methods = methods
        self.code = code
        self.consent = consent
        self.redirect = redirect
        self.verifier = verifier
    }

    public static let type = GrantType.authorizationCode

    public struct Facts: Sendable {
        let account: Versioned<Account>
        let browser: LoginBrowser
        let consent: Versioned<Consent>?
        let methods: Versioned<TenantMethods>?
    }

    public var sessionName: UUID? { code.id }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let account = try await streams.read(Account.self, code.account)
        let browser = try await LoginBrowser.read(code.browser, from: streams)
        var agreed: Versioned<Consent>?
        if let consent { agreed = try await streams.read(Consent.self, consent) }
        var known: Versioned<TenantMethods>?
        if let methods { known = try await streams.read(TenantMethods.self, methods) }
        return Facts(account: account, browser: browser, consent: agreed, methods: known)
    }

    public func account(_ facts: Facts) -> UUID? { code.account }

    public func settleRepeated(
        _ session: Versioned<Session>, _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        guard let terms = session.state.terms, session.state.end == nil else {
            throw .unknownAuthorizationCode
        }
        return SettledDecision(
            Decision(
                SessionEvent.ended(.codeReuse, from: desk.request.from), in: session.stream,
                of: terms.account),
            .failure(.unknownAuthorizationCode))
    }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        var desk = desk
        // Whichever host it is redeemed at: its client heard of one issuer, and the tokens are that one's.
        desk.request.issuer = code.issuer ?? desk.request.issuer
        let (account, now) = (facts.account, desk.request.now)
        // On record, so that it stays over where the next node's clock is behind this one's.
        guard now < code.expiresAt else { throw .invalidAuthorizationCode("expired") }
        try check(at: desk)
        guard account.isWelcome else { throw .accountBlocked }
        // No log-out since then; a new sign-in is no reason to refuse.
        guard let login = facts.browser.login(of: account, at: now) else {
            throw .invalidAuthorizationCode("browser_signed_out")
        }
        guard account.state.admits([.client(code.client)], since: code.removals) else {
            throw .invalidAuthorizationCode("access_removed")
        }
        if desk.metadata.asksForConsent {
            let agreed = Agreement(scope: code.scope, resources: code.resources)
            guard let consent = facts.consent, consent.state.covers(agreed) else {
                throw .invalidAuthorizationCode("consent_withdrawn")
            }
        }
        var settled = try desk.narrowed(within: code.resources).open(
            account: account.standing(since: code.removals), scope: code.scope,
            factors: code.factors
        ) { terms in
            terms.authenticatedAt = code.authenticatedAt
            terms.browser = login.line ?? code.browser
            terms.opener = facts.browser.opener
            terms.claims = code.userInfoClaims
            terms.issuer = desk.request.issuer
        }
        if case .success(var granted) = settled.outcome {
            granted.nonce = code.nonce
            granted.idTokenClaims = code.idTokenClaims
            granted.level = code.level
            granted.login = login
            granted.tenantMethods = facts.methods?.state.enrolled ?? []
            settled.outcome = .success(granted)
        }
        return settled
    }

    /// Checks that the client that the code was issued to redeems it, with the same redirect URI.
    private func check(at desk: GrantDesk) throws(GrantRefusal) {
        guard code.client == desk.request.client else {
            throw .invalidAuthorizationCode("other_client")
        }
        if let redirect {
            guard redirect == code.redirect else {
                throw .invalidAuthorizationCode("other_redirect_uri")
            }
        } else if code.namesRedirect {
            // OAuth 2.1 asks for it no more where a challenge says whose the code is. Apps of the voo
            // profile leave it out as well, where there is only one that it can be.
            guard
                code.challenge != nil
                    || desk.metadata.rules.impliesOnlyRedirect
                        && desk.metadata.redirectURIs.count == 1
            else {
                throw .invalidAuthorizationCode("redirect_uri_missing")
            }
        }
        guard code.key == nil || code.key == desk.request.keyProof?.key else {
            throw .invalidAuthorizationCode("other_key")
        }
        // A verifier without a challenge is what a downgrade looks like (RFC 9700 section 4.8.2).
        guard verifier == code.challenge else {
            throw .invalidAuthorizationCode("wrong_verifier")
        }
    }
}
