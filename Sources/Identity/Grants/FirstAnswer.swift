internal import EventSourcing
internal import Values

extension GrantDesk {
    /// For so long a client that names its requests has the answer of the first one again, in seconds.
    static let repeatPatience: Int64 = 60

    /// The answer of the request that opened a session, for the same request once more: its node may have died
    /// between the two. Nil later, and where anything has come of the session since then.
    func firstAnswer(
        of session: Versioned<Session>, for account: Versioned<Account>
    ) -> GrantedTokens? {
        let state = session.state
        guard let terms = state.terms, state.end == nil, !state.isDetached, state.generation == 0,
            state.refreshedAt == nil, terms.client == request.client,
            request.now < terms.openedAt.adding(seconds: Self.repeatPatience),
            account.isWelcome, terms.account == account.stream,
            account.state.keeps(terms),
            terms.key == nil || terms.key == request.keyProof?.key
        else { return nil }
        return GrantedTokens(
            session: session.stream, generation: 0, terms: terms, scope: terms.scope,
            resources: terms.resources, lifetime: accessLifetime, style: TokenStyle(metadata),
            key: request.keyProof?.key)
    }
}
