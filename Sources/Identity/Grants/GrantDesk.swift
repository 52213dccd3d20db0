internal import EventSourcing
internal import Values

/// Where a grant is settled: the request, what holds for it, and how a session is opened.
public struct GrantDesk: Sendable {
    var request: GrantRequest
    let settings: Settings
    let metadata: ClientMetadata
    let method: GrantType
    /// What stands on record in its place, where the session is opened within a tenant's own app.
    var appMethod: AppSignInMethod?
    /// Set where the person signs in on a page, and not in a client.
    var browser: BrowserDesk?
    /// Where the session stands in the tree of a device of the federation profile.
    var federation: FederatedToken?

    /// What the first access token is for, where that is not all that the session may have.
    var audience: [String]?

    /// A session for all that was agreed to, and a first token for what the request names of it (RFC 8707
    /// section 2.2).
    func narrowed(within agreed: [String]) throws(GrantRefusal) -> GrantDesk {
        guard let asked = ResourceRule.find(request.resources, in: agreed) else {
            throw .invalidResource
        }
        if asked.isEmpty { try require(agreed) }
        var whole = self
        whole.request.resources = agreed
        whole.audience = asked.isEmpty ? nil : asked
        return whole
    }

    /// The scope that this client gets of what it asked for.
    func grantedScope() throws(GrantRefusal) -> [String] {
        guard browser == nil else { return [] }
        do {
            return try Scope.granted(request.scope, to: metadata)
        } catch {
            // Apps that sign people in by themselves know another error for it than RFC 6749 section 5.2.
            throw error == .scopeNotAllowed && !method.isNative ? .unknownScope : error
        }
    }

    /// The session that a grant opens, after its other decisions.
    func open(
        after decision: Decision = Decision(), account: (id: UUID, stamp: SecurityStamp)?,
        scope: [String], factors: [AuthenticationFactor],
        amending amend: (inout SessionTerms.Members) -> Void = { _ in }
    ) -> SettledDecision<GrantOutcome> {
        if browser == nil, wantsMore(factors, by: method) {
            return SettledDecision(decision, .failure(.strongerSignInNeeded))
        }
        let lifetime =
            browser?.lifetime(settings) ?? settings[SettingCatalogue.sessionLifetime]
        var terms = SessionTerms(
            account: account?.id, stamp: account?.stamp ?? 0, client: request.client,
            clientID: request.clientID, app: metadata.appID ?? request.app, scope: scope,
            resources: request.resources, factors: factors, openedAt: request.now,
            expiresAt: request.now.adding(seconds: lifetime),
            isOffline: (scope.contains("offline_access") || metadata.rules.issuesWithoutOffline)
                && metadata.grantTypes.contains(.refreshToken), from: request.from,
            method: method,
            // Who authenticates by itself may come to have another key (RFC 9449 section 5).
            key: metadata.authenticationMethod == .none ? request.keyProof?.key : nil)
        terms.change { terms in
            terms.appMethod = appMethod
            terms.sector = account == nil ? nil : metadata.sector
            // ID tokens name the same issuer at each refresh (OpenID Connect Core section 12.2).
            if account != nil,
                metadata.logoutURI != nil || scope.contains("openid") || metadata.rules.isTenant
            {
                terms.issuer = request.issuer
            }
            amend(&terms)
            if let federation { terms.join(federation, openedAt: request.now) }
        }
        var decision = decision
        if let browser, let account {
            decision = browser.open(
                request.session, after: decision, account: account, factors: factors, request,
                settings)
        } else {
            decision.append(SessionEvent.opened(terms), in: request.session)
        }
        return SettledDecision(
            decision,
            .success(
                GrantedTokens(
                    session: request.session, generation: 0, terms: terms, scope: scope,
                    resources: audience ?? request.resources, lifetime: accessLifetime,
                    style: TokenStyle(metadata), key: request.keyProof?.key)))
    }

    /// Seconds that an access token is valid. A client that signs people in without a browser is
    /// held to the bounds of such sign-ins, regardless of its registration.
    var accessLifetime: Int64 {
        if method == .flagship { return settings[SettingCatalogue.installationTokenLifetime] }
        guard metadata.grantTypes.contains(where: \.isNative) else {
            if let lifetime = metadata.rules.accessLifetime, metadata.accessTokenLifetime == nil {
                return lifetime
            }
            return metadata.accessTokenLifetime ?? settings[SettingCatalogue.accessTokenLifetime]
        }
        let setting = SettingCatalogue.nativeAccessTokenLifetime
        let lifetime = metadata.accessTokenLifetime ?? settings[setting]
        guard case .seconds(let lowest, let highest) = setting.setting.kind else { return lifetime }
        return min(max(lifetime, lowest), highest)
    }
}
