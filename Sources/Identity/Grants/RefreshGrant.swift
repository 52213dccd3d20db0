public import EventSourcing
public import Values

/// A refresh token that came back. Each is good once: the next one takes its place, and is confirmed
/// by its first use. Until then a client that lost the answer may repeat the token that was redeemed
/// last: it gets the same successor for a moment, and later a new one, which makes the other void. Any
/// other token that was redeemed before, or is void, ends the family: of two who hold tokens of it at
/// most one has the living one, so that a thief shows when its owner refreshes next.
public struct RefreshGrant: Grant {
    public var session: UUID
    /// The number of the token that was shown; that it is authentic is known already.
    public var generation: Int
    /// It is shown at an endpoint of the federation profile, where tokens are refreshed that sign requests by a key.
    public var takesRequestKeys = false

    public init(session: UUID, generation: Int) {
        self.session = session
        self.generation = generation
    }

    public static let type = GrantType.refreshToken
    public static let signsIn = false
    public static let opensSession = false

    public struct Facts: Sendable {
        let session: Versioned<Session>
        let account: Versioned<Account>?
        let superiors: Superiors
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let session = try await streams.read(Session.self, session)
        let superiors = try await Superiors.read(
            session.state.terms?.federation?.superiors ?? [],
            opener: session.state.terms?.opener, from: streams)
        guard let holder = session.state.terms?.account else {
            return Facts(session: session, account: nil, superiors: superiors)
        }
        return Facts(
            session: session, account: try await streams.read(Account.self, holder),
            superiors: superiors)
    }

    public func account(_ facts: Facts) -> UUID? { facts.account?.stream }

    /// What has to hold before a token tells anything: it was given to this client, and its family is alive or can come
    /// to life again. What comes and goes, and what a request could say otherwise, is asked after reuse.
    private func family(_ facts: Facts, at desk: GrantDesk) -> SessionTerms? {
        let state = facts.session.state
        guard let terms = state.terms, terms.client == desk.request.client, terms.isOffline,
            state.end == nil, desk.request.now < terms.expiresAt,
            let account = facts.account, account.isAlive, account.state.keeps(terms),
            generation <= state.generation
        else { return nil }
        return terms
    }

    public func settleReuse(_ facts: Facts, at desk: GrantDesk) -> SettledDecision<GrantOutcome>? {
        guard let terms = family(facts, at: desk), standing(in: facts.session, desk) == nil else {
            return nil
        }
        return SettledDecision(
            Decision(
                SessionEvent.ended(.reuse, from: desk.request.from), in: facts.session.stream,
                of: terms.account),
            .failure(.invalidRefreshToken))
    }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        let (session, now) = (facts.session, desk.request.now)
        let key = desk.request.keyProof?.key
        guard let terms = family(facts, at: desk), let standing = standing(in: session, desk),
            facts.account?.isWelcome == true, isFresh(session, desk),
            facts.superiors.areAlive(at: desk),
            takesRequestKeys == terms.isRefreshedForRequests,
            terms.key == nil || terms.key == key,
            terms.isTrusted(in: desk.settings), mayGoOn(terms, desk)
        else { throw .invalidRefreshToken }
        if desk.wantsMore(terms.factors, by: terms.method) { throw .strongerSignInNow }
        let scope = try narrowed(desk, terms)
        let resources = try resources(desk, terms)
        let leaf = session.state.generation
        let next = standing.givesLeafAgain ? leaf : leaf + 1
        let granted = GrantedTokens(
            session: session.stream, generation: next, terms: terms, scope: scope,
            resources: resources,
            lifetime: desk.accessLifetime, style: TokenStyle(desk.metadata), key: key)
        guard standing != .repeated else { return SettledDecision(.success(granted)) }
        // A client that has no secret is held to its key from its first proof on (RFC 9449 section 5), by the living
        // leaf alone: who repeats its parent may be another than who has the leaf.
        let binds =
            standing == .leaf && terms.key == nil && desk.metadata.authenticationMethod == .none
        return SettledDecision(
            Decision(
                SessionEvent.refreshed(
                    generation: next, at: now, key: binds ? key : nil,
                    parent: standing == .repeatedLate ? session.state.parent : nil),
                in: session.stream),
            .success(granted))
    }

    /// A session that may be refreshed for its `offline_access` has no next token once that was taken away from
    /// the client. Others were opened without it, as those of the voo profile and of installations are.
    private func mayGoOn(_ terms: SessionTerms, _ desk: GrantDesk) -> Bool {
        let isAsked =
            terms.scope.contains("offline_access") && !desk.metadata.rules.issuesWithoutOffline
        return !isAsked || Scope.allowed(to: desk.metadata).contains("offline_access")
    }

    /// What a token is good for.
    private enum Standing {
        /// The leaf: for the next one.
        case leaf
        /// Its parent, a moment after the leaf was made: for the same leaf again.
        case repeated
        /// The same towards the end of that moment, which begins once more: of two copies that come one after the
        /// other, the second one must not void what the first one got.
        case repeatedAtTheEnd
        /// Its parent, later, while the leaf is still unused: for a new leaf in place of that one.
        case repeatedLate

        var givesLeafAgain: Bool { self == .repeated || self == .repeatedAtTheEnd }
    }

    /// Nil of a token that was redeemed before or is void: reuse.
    private func standing(in session: Versioned<Session>, _ desk: GrantDesk) -> Standing? {
        let state = session.state
        if generation == state.generation { return .leaf }
        let leeway = desk.settings[SettingCatalogue.refreshTokenLeeway]
        // Clients of the voo profile never show a token twice, so that a replay comes from another
        // party. Of requests that race, one that came first may be decided last: without leeway
        // that is no excuse.
        guard desk.metadata.rules.refreshLeeway, leeway > 0 else { return nil }
        func isTwin(_ twin: DuplicateToken?) -> Bool {
            twin?.generation == generation && twin?.isLiving(leeway) == true
        }
        if isTwin(state.leafTwin) { return .leaf }
        guard generation == state.parent || isTwin(state.parentTwin),
            let madeAt = state.leafMadeAt, let usedAt = state.parentUsedAt,
            mayRepeat(in: state, desk)
        else { return nil }
        // The record has whole seconds: the leeway is never shorter than it is said to be.
        let now = desk.request.now
        let since = now.seconds - (state.repeatedAt ?? madeAt).seconds
        if since <= leeway {
            return state.repeatedAt == nil && 2 * since > leeway ? .repeatedAtTheEnd : .repeated
        }
        let bound = desk.settings[SettingCatalogue.refreshTokenLateRepeat]
        return now < usedAt.adding(seconds: bound) ? .repeatedLate : nil
    }

    /// A parent that was given without a key made a leaf that is bound to one: where it comes back without that key, two
    /// have it. One that was bound to the key itself is worth nothing without it, and tells nothing yet.
    private func mayRepeat(in state: Session, _ desk: GrantDesk) -> Bool {
        guard let key = state.terms?.key, let first = state.firstBound, generation < first else {
            return true
        }
        return desk.request.keyProof?.key == key
    }

    /// A refresh token that was not used for long has expired.
    private func isFresh(
        _ session: Versioned<Session>, _ desk: GrantDesk
    ) -> Bool {
        guard let terms = session.state.terms else { return false }
        let end = terms.refreshEnd(
            ofTokenFrom: session.state.refreshedAt ?? terms.openedAt, desk.metadata, desk.settings)
        return desk.request.now < end
    }

    /// A refresh may ask for less than the session has, and never for more. What was taken away from the
    /// client meanwhile is left out; where nothing remains, there is nothing to give a token for.
    private func narrowed(
        _ desk: GrantDesk, _ terms: SessionTerms
    ) throws(GrantRefusal) -> [String] {
        let asked = desk.request.scope
        for scope in asked where !terms.scope.contains(scope) { throw .widerScope }
        let wanted = asked.isEmpty ? terms.scope : asked
        let left = wanted.filter(Scope.allowed(to: desk.metadata).contains)
        guard !left.isEmpty || wanted.isEmpty else { throw .unknownScope }
        return left
    }

    /// The session's resources that the client asks for, else those that it may still have. An
    /// empty list would mean a token for Urd itself: that is another one, which the client did not
    /// ask for.
    private func resources(
        _ desk: GrantDesk, _ terms: SessionTerms
    ) throws(GrantRefusal) -> [String] {
        guard let asked = ResourceRule.find(desk.request.resources, in: terms.resources) else {
            throw .invalidResource
        }
        guard asked.isEmpty, !terms.resources.isEmpty else { return asked }
        let issuer = terms.issuer ?? desk.request.issuer
        let left = terms.resources.filter {
            desk.metadata.mayAsk(for: $0, desk.settings, from: issuer)
        }
        guard !left.isEmpty else { throw .invalidResource }
        return left
    }
}

extension SessionTerms {
    /// Its tokens are given and refreshed where requests are signed by them, at the endpoints of the federation profile,
    /// and nowhere else: at another one a key would become a bearer token, or a token that its client's secret guards
    /// would be refreshed without it.
    public var isRefreshedForRequests: Bool {
        guard let token = self.federation else { return false }
        switch token.holder {
        case .device, .application: return true
        case .person: return token.confirmation == nil
        // A service that showed an assertion for OpenID asked for a scope, and has bearer tokens.
        case .service: return self.scope.isEmpty
        }
    }

    /// A session opened by an issuer's assertion ends with the trust in the issuer: its key may
    /// have been stolen.
    public func isTrusted(in settings: Settings) -> Bool {
        guard let issuer = self.assertionIssuer else { return true }
        return TrustedIssuer(issuer, in: settings[SettingCatalogue.assertionIssuers]) != nil
    }

    /// When a refresh token is over that was given at that time and is never used. Those of installations
    /// last as long as their session.
    public func refreshEnd(
        ofTokenFrom givenAt: Timestamp, _ metadata: ClientMetadata, _ settings: Settings
    ) -> Timestamp {
        guard self.method != .flagship else { return self.expiresAt }
        let patience =
            metadata.refreshTokenLifetime ?? settings[SettingCatalogue.refreshTokenLifetime]
        return min(self.expiresAt, givenAt.adding(seconds: patience))
    }
}
