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
    /// It is shown where tokens are refreshed that sign requests by a key.
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
            session.state.terms?.federation?.superiors ?? [], from: streams)
        guard let holder = session.state.terms?.account else {
            return Facts(session: session, account: nil, superiors: superiors)
        }
        return Facts(
            session: session, account: try await streams.read(Account.self, holder),
            superiors: superiors)
    }

    public func account(_ facts: Facts) -> UUID? { facts.account?.stream }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> Settled<GrantOutcome> {
        let (session, now) = (facts.session, desk.request.now)
        guard let terms = session.state.terms, terms.client == desk.request.client,
            terms.isOffline, session.state.end == nil, now < terms.expiresAt,
            let account = facts.account, account.isWelcome, account.state.stamp == terms.stamp,
            isFresh(session, desk), facts.superiors.areAlive(at: desk),
            takesRequestKeys || !terms.hasPersonalRequestKey,
            terms.key == nil || terms.key == desk.request.keyProof?.key
        else { throw .invalidRefreshToken }
        guard generation <= session.state.generation else { throw .invalidRefreshToken }
        // Before anything else that is asked: no fault of a request hides that its token was used before.
        guard let standing = standing(in: session, desk) else {
            return Settled(
                Decision(
                    SessionEvent.ended(.reuse, from: desk.request.from), in: session.stream,
                    of: terms.account),
                .failure(.invalidRefreshToken))
        }
        guard terms.isTrusted(in: desk.settings), mayGoOn(terms, desk) else {
            throw .invalidRefreshToken
        }
        if desk.wantsMore(terms.factors, by: terms.method) { throw .strongerSignInNow }
        let scope = try narrowed(desk, terms)
        let resources = try resources(desk, terms)
        let leaf = session.state.generation
        let next = standing == .repeated ? leaf : leaf + 1
        let key = desk.request.keyProof?.key
        let granted = GrantedTokens(
            session: session.stream, generation: next, terms: terms, scope: scope,
            resources: resources,
            lifetime: desk.accessLifetime, style: TokenStyle(desk.metadata), key: key)
        guard standing != .repeated else { return Settled(.success(granted)) }
        // From its first proof on a client that has no secret is held to its key (RFC 9449 section 5).
        let binds = terms.key == nil && desk.metadata.authenticationMethod == .none
        return Settled(
            Decision(
                SessionEvent.refreshed(
                    generation: next, at: now, key: binds ? key : nil,
                    parent: standing == .repeatedLate ? generation : nil),
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
        /// Its parent, later, while the leaf is still unused: for a new leaf in place of that one.
        case repeatedLate
    }

    /// Nil of a token that was redeemed before or is void: reuse.
    private func standing(in session: Versioned<Session>, _ desk: GrantDesk) -> Standing? {
        let state = session.state
        if generation == state.generation { return .leaf }
        let leeway = desk.settings[SettingCatalogue.refreshTokenLeeway]
        // Clients of the voo profile never show a token twice, so that a replay comes from another
        // party. Of requests that race, one that came first may be decided last: without leeway
        // that is no excuse.
        guard desk.metadata.rules.refreshLeeway, leeway > 0, generation == state.parent,
            let madeAt = state.refreshedAt, let usedAt = state.parentUsedAt
        else { return nil }
        let now = desk.request.now
        if now < madeAt.adding(seconds: leeway) { return .repeated }
        let bound = desk.settings[SettingCatalogue.refreshTokenLateRepeat]
        return now < usedAt.adding(seconds: bound) ? .repeatedLate : nil
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
        try desk.require(desk.request.resources)
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
    /// A person on a device of the federation profile, whose token is a key that signs requests, and no bearer token.
    /// Refreshed as one it would lose that key.
    public var hasPersonalRequestKey: Bool {
        self.federation?.holder == .person && self.federation?.confirmation == nil
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
