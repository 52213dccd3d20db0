public import EventSourcing
public import Values

/// Gives an installation another access token for its refresh token, which stays as it is: the client
/// has a secret beside it, and keeps one token for as long as it is there.
public struct RefreshInstallation: AnsweringCommand, TimedCommand {
    /// The session that the token is of; that it is authentic is known already. Nil: it is no token.
    public var token: UUID?
    public var installation: UUID?
    public var secret: SecretDigest?
    public var now: Timestamp

    public init(token: UUID?, installation: UUID?, secret: SecretDigest?, now: Timestamp) {
        self.token = token
        self.installation = installation
        self.secret = secret
        self.now = now
    }

    public typealias Rejection = OwnerRefusal
    public typealias Outcome = GrantedTokens

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let installation: Versioned<Client>?
        let session: Versioned<Session>?
        let account: Versioned<Account>?
        let line: OpenerLine
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let realm = try await streams.read(Realm.self, Realm.stream)
        var client: Versioned<Client>?
        if let installation { client = try await streams.read(Client.self, installation) }
        var session: Versioned<Session>?
        if let token { session = try await streams.read(Session.self, token) }
        var account: Versioned<Account>?
        if let holder = session?.state.terms?.account {
            account = try await streams.read(Account.self, holder)
        }
        return Facts(
            realm: realm, installation: client, session: session, account: account,
            line: try await .read(session?.state.terms?.opener, from: streams))
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        guard let client = facts.installation, let metadata = client.installation(at: now) else {
            throw .unknownInstallation
        }
        guard let known = client.state.secret, known == secret else { throw .wrongSecret }
        guard let session = facts.session, let terms = session.state.terms,
            terms.client == client.stream, terms.method == .flagship, terms.webApp == nil,
            let account = facts.account, account.isWelcome,
            !terms.scope.contains(Installation.scope) || client.state.certification != nil,
            facts.line.isAwake
        else { throw .invalidRefreshToken }
        guard session.state.end == nil, now < terms.expiresAt, account.state.keeps(terms),
            !facts.line.isOver(at: now)
        else { throw .sessionOver }
        let desk = GrantDesk(
            request: GrantRequest(
                client: client.stream, clientID: client.state.clientID, proof: .none,
                session: session.stream, now: now),
            settings: facts.realm.state.settings, metadata: metadata, method: .flagship)
        // The number stays: the token is good again.
        return SettledDecision(
            Decision(
                SessionEvent.refreshed(generation: session.state.generation, at: now),
                in: session.stream, of: terms.account),
            GrantedTokens(
                session: session.stream, generation: session.state.generation, terms: terms,
                scope: terms.scope, resources: [], lifetime: desk.accessLifetime))
    }
}
