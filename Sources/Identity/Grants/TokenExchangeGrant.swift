public import EventSourcing
public import Values

/// A client that got a person's token gets another one for it, to call others with: for the person, or as
/// the person, whichever it was given the right to. The new token has no wider scope and no longer lifetime.
public struct TokenExchangeGrant: Grant {
    public var subject: ShownToken
    /// Who is to act, by a token of the client's own, where that is not the client itself.
    public var actor: ShownToken?

    public init(subject: ShownToken, actor: ShownToken? = nil) {
        self.subject = subject
        self.actor = actor
    }

    public static let type = GrantType.tokenExchange

    public struct Facts: Sendable {
        let session: Versioned<Session>
        let account: Versioned<Account>?
        /// The client that the token was given to.
        let holder: Versioned<Client>?
        let actor: Versioned<Session>?
        let opener: OpenerLine
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let session = try await streams.read(Session.self, subject.session)
        var acting: Versioned<Session>?
        if let actor { acting = try await streams.read(Session.self, actor.session) }
        let opener = try await OpenerLine.read(session.state.terms?.opener, from: streams)
        guard let terms = session.state.terms, let person = terms.account else {
            return Facts(
                session: session, account: nil, holder: nil, actor: acting, opener: opener)
        }
        return Facts(
            session: session, account: try await streams.read(Account.self, person),
            holder: try await streams.read(Client.self, terms.client), actor: acting,
            opener: opener)
    }

    public func account(_ facts: Facts) -> UUID? { facts.account?.stream }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        guard desk.metadata.exchange != .none else { throw .unauthorizedClient }
        guard let shown = facts.session.state.terms, facts.session.state.end == nil,
            desk.request.now < shown.expiresAt, desk.request.now < subject.expiresAt,
            shown.isTrusted(in: desk.settings),
            let account = facts.account, account.isWelcome, account.state.keeps(shown),
            account.state.admits([.client(desk.request.client)], since: shown.stamp.removals),
            facts.opener.isStanding(at: desk.request.now),
            let holder = facts.holder, let held = holder.aliveMetadata, !holder.state.isDisabled
        else { throw .invalidSubjectToken }
        guard isFor(desk, subject, shown) || held.mayAct.contains(desk.request.clientID) else {
            throw .exchangeNotAllowed
        }
        try requireProof(desk)
        var terms = SessionTerms(
            account: account.stream, stamp: shown.stamp, client: desk.request.client,
            clientID: desk.request.clientID, app: desk.metadata.appID ?? desk.request.app,
            scope: try scope(desk), resources: try resources(desk), factors: shown.factors,
            openedAt: desk.request.now, expiresAt: min(subject.expiresAt, shown.expiresAt),
            isOffline: false, from: desk.request.from, method: Self.type)
        terms.exchange = try exchange(facts, desk, shown)
        terms.authenticatedAt = shown.signedInAt
        terms.sector = desk.metadata.sector
        return SettledDecision(
            Decision(SessionEvent.opened(terms), in: desk.request.session),
            .success(
                GrantedTokens(
                    session: desk.request.session, generation: 0, terms: terms,
                    scope: terms.scope, resources: terms.resources,
                    lifetime: min(
                        desk.accessLifetime, terms.expiresAt.seconds - desk.request.now.seconds),
                    style: TokenStyle(desk.metadata), key: desk.request.keyProof?.key)))
    }

    /// A stolen bound token is useless without its key: the new token would be bound to another
    /// key, or to none. A request proves one key at most, so that an actor's token has the same.
    private func requireProof(_ desk: GrantDesk) throws(GrantRefusal) {
        for key in [subject.key, actor?.key] where key != nil && key != desk.request.keyProof?.key {
            throw .unprovenSubjectToken
        }
    }

    /// A token is a client's to exchange if it was given to it, or is for what it speaks for.
    private func isFor(_ desk: GrantDesk, _ token: ShownToken, _ terms: SessionTerms) -> Bool {
        terms.client == desk.request.client
            || token.audience.contains(where: desk.metadata.audiences.contains)
    }

    /// Nothing said: all that the client may have of what there is. Never `offline_access`: what is
    /// exchanged is not refreshed.
    private func scope(_ desk: GrantDesk) throws(GrantRefusal) -> [String] {
        let allowed = desk.metadata.scope
        func mayHave(_ name: String) -> Bool { allowed.isEmpty || allowed.contains(name) }
        let asked = desk.request.scope
        guard !asked.isEmpty else {
            return subject.scope.filter { $0 != "offline_access" && mayHave($0) }
        }
        var granted: [String] = []
        for name in asked where !granted.contains(name) {
            guard name != "offline_access", mayHave(name) else { throw .unknownScope }
            guard subject.scope.contains(name) else { throw .widerScope }
            granted.append(name)
        }
        return granted
    }

    private func resources(_ desk: GrantDesk) throws(GrantRefusal) -> [String] {
        let targets = desk.metadata.exchangeTargets
        guard !desk.request.resources.isEmpty else {
            try desk.require(subject.audience.filter { !targets.contains($0) })
            return subject.audience
        }
        // What its list names goes before what it may ask for by the token that it shows.
        guard
            let asked = ResourceRule.find(
                desk.request.resources, in: targets + subject.audience)
        else { throw .invalidResource }
        try desk.require(asked.filter { !targets.contains($0) })
        return asked
    }

    /// Who acted before stays to be seen: no exchange washes it off.
    private func exchange(
        _ facts: Facts, _ desk: GrantDesk, _ shown: SessionTerms
    ) throws(GrantRefusal) -> TokenExchange {
        var exchange = TokenExchange(
            origin: facts.session.stream, actors: shown.exchange?.actors ?? [])
        if let actor {
            exchange.actors.insert(try acting(facts, actor, desk, for: shown), at: 0)
        } else if desk.metadata.exchange == .delegation {
            exchange.actors.insert(desk.request.clientID, at: 0)
        } else {
            exchange.impersonator = desk.request.clientID
        }
        guard exchange.actors.count <= TokenExchange.mostActors else {
            throw .exchangeNotAllowed
        }
        return exchange
    }

    /// The name of the actor: the client, or a person whom it signed in itself. A person whose
    /// token was merely shown to the client, or issued to it for another person, did nothing; a
    /// person does not act for themselves; and an actor who acts as the person is not named.
    private func acting(
        _ facts: Facts, _ actor: ShownToken, _ desk: GrantDesk, for shown: SessionTerms
    ) throws(GrantRefusal) -> String {
        guard let acting = facts.actor?.state, let terms = acting.terms, acting.end == nil,
            desk.request.now < min(terms.expiresAt, actor.expiresAt),
            terms.isTrusted(in: desk.settings)
        else { throw .invalidSubjectToken }
        guard desk.metadata.exchange == .delegation, terms.client == desk.request.client,
            terms.exchange == nil, terms.account == nil || terms.account != shown.account
        else { throw .actorNotAllowed }
        return terms.account?.description ?? terms.clientID
    }
}
