internal import EventSourcing
public import Values

/// A refresh token that came back. Each is good once: the next one takes its place. One that was
/// used before ends its family, except that a client which lost the answer may ask again for a
/// moment, and gets the same successor, as long as nobody has used that.
public struct RefreshGrant: Sendable {
    public var session: UUID
    /// The number of the token that was shown; that it is authentic is known already.
    public var generation: Int

    public init(session: UUID, generation: Int) {
        self.session = session
        self.generation = generation
    }

    func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> RedeemGrant.ProofFacts {
        let session = try await streams.read(Session.self, session)
        guard let holder = session.state.terms?.account else { return .session(session, nil) }
        return .session(session, try await streams.read(Account.self, holder))
    }

    func settle(
        _ command: RedeemGrant, _ facts: RedeemGrant.Facts, _ session: Versioned<Session>,
        _ account: Versioned<Account>?
    ) throws(GrantRefusal) -> Settled<RedeemGrant.Outcome> {
        guard let terms = session.state.terms, terms.client == command.client, terms.isOffline,
            session.state.end == nil, command.now < terms.expiresAt, let account,
            account.isWelcome, account.state.stamp == terms.stamp, isFresh(session, command, facts)
        else { throw .invalidRefreshToken }
        let scope = try narrowed(command, terms)
        let next = generation + 1
        let granted = GrantedTokens(
            session: session.stream, generation: next, terms: terms, scope: scope,
            resources: command.resources.isEmpty ? terms.resources : command.resources,
            lifetime: command.accessLifetime(facts))
        if generation == session.state.generation {
            return Settled(
                Decision(
                    SessionEvent.refreshed(generation: next, at: command.now), in: session.stream),
                .success(granted))
        }
        let leeway = facts.settings[SettingCatalogue.refreshTokenLeeway]
        if next == session.state.generation, let at = session.state.refreshedAt,
            command.now < at.adding(seconds: leeway)
        {
            return Settled(.success(granted))
        }
        guard generation < session.state.generation else { throw .invalidRefreshToken }
        return Settled(
            Decision(SessionEvent.ended(.reuse), in: session.stream),
            .failure(.invalidRefreshToken))
    }

    /// A token that nobody used for long is not good any more.
    private func isFresh(
        _ session: Versioned<Session>, _ command: RedeemGrant, _ facts: RedeemGrant.Facts
    ) -> Bool {
        guard let used = session.state.refreshedAt ?? session.state.terms?.openedAt else {
            return false
        }
        let patience =
            facts.client.state.metadata?.refreshTokenLifetime
            ?? facts.settings[SettingCatalogue.refreshTokenLifetime]
        return command.now < used.adding(seconds: patience)
    }

    /// A refresh may ask for less than the session has, and never for more.
    private func narrowed(
        _ command: RedeemGrant, _ terms: SessionTerms
    ) throws(GrantRefusal) -> [String] {
        for scope in command.scope where !terms.scope.contains(scope) { throw .widerScope }
        for resource in command.resources where !terms.resources.contains(resource) {
            throw .invalidResource
        }
        return command.scope.isEmpty ? terms.scope : command.scope
    }
}
