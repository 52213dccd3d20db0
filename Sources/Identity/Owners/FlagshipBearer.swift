public import EventSourcing
internal import Values

/// Who shows a token of scope `*`, with all that has to stand behind it.
public struct FlagshipBearer: RealmFacts {
    public let realm: Versioned<Realm>
    private let session: Versioned<Session>
    private let account: Versioned<Account>?
    private let installation: Versioned<Client>?
    private let line: OpenerLine

    static func read(
        _ session: UUID, from streams: some StreamReader
    ) async throws(LogFailure) -> FlagshipBearer {
        let realm = try await streams.read(Realm.self, Realm.stream)
        let session = try await streams.read(Session.self, session)
        let line = try await OpenerLine.read(session.state.terms?.opener, from: streams)
        guard let terms = session.state.terms, let account = terms.account else {
            return FlagshipBearer(
                realm: realm, session: session, account: nil, installation: nil, line: line)
        }
        return FlagshipBearer(
            realm: realm, session: session,
            account: try await streams.read(Account.self, account),
            installation: try await streams.read(Client.self, terms.client), line: line)
    }

    /// Nil where the session, its account or its installation may not go on, or never had everything.
    func standing(at now: Timestamp) -> (
        terms: SessionTerms, account: Versioned<Account>, installation: Versioned<Client>
    )? {
        guard let terms = session.state.terms, session.state.end == nil,
            terms.method == .flagship, terms.webApp == nil,
            terms.scope.contains(Installation.scope), now < terms.expiresAt,
            let account, account.isWelcome, account.state.keeps(terms),
            line.isStanding(at: now),
            let installation, installation.installation(at: now) != nil,
            installation.state.certification != nil
        else { return nil }
        return (terms, account, installation)
    }
}
