public import EventSourcing
public import Values

/// Gives an installation tokens for an authorization code of the flagship profile. A wrong verifier does
/// not use the code up; being redeemed does, and shown again it ends what it gave.
public struct RedeemInstallationCode: AnsweringCommand, TimedCommand {
    public var code: AuthorizationCode
    /// Of the verifier that was shown.
    public var verifier: SecretDigest?
    public var installation: UUID?
    public var secret: SecretDigest?
    public var from: SignInPlace
    public var now: Timestamp
    /// The name of the mail that tells of a new device.
    public var mail: UUID?

    public init(
        code: AuthorizationCode, verifier: SecretDigest?, installation: UUID?,
        secret: SecretDigest?, from: SignInPlace = SignInPlace(), now: Timestamp
    ) {
        self.code = code
        self.verifier = verifier
        self.installation = installation
        self.secret = secret
        self.from = from
        self.now = now
    }

    public typealias Rejection = OwnerRefusal
    public typealias Outcome = OwnerOutcome

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let owner: Versioned<Owner>
        let installation: Versioned<Client>?
        let account: Versioned<Account>
        let browser: LoginBrowser
        let session: Versioned<Session>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let realm = try await streams.read(Realm.self, Realm.stream)
        var client: Versioned<Client>?
        if let installation { client = try await streams.read(Client.self, installation) }
        return Facts(
            realm: realm, owner: try await streams.read(Owner.self, Owner.stream),
            installation: client,
            account: try await streams.read(Account.self, code.account),
            browser: try await .read(code.browser, from: streams),
            session: try await streams.read(Session.self, code.id))
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        guard let client = facts.installation, let metadata = client.installation(at: now) else {
            throw .unknownInstallation
        }
        guard let known = client.state.secret, known == secret else { throw .wrongSecret }
        if facts.session.exists {
            guard let terms = facts.session.state.terms, facts.session.state.end == nil else {
                throw .invalidCode
            }
            return SettledDecision(
                Decision(
                    SessionEvent.ended(.codeReuse, from: from), in: facts.session.stream,
                    of: terms.account),
                .refused(.invalidCode))
        }
        guard code.client == client.stream, now < code.expiresAt else { throw .invalidCode }
        let everything = code.scope.contains(Installation.scope)
        guard facts.account.isWelcome, facts.owner.state.account == facts.account.stream,
            facts.browser.login(of: facts.account, at: now) != nil,
            facts.account.state.admits([.client(client.stream)], since: code.removals),
            !everything || client.state.certification != nil
        else { throw .invalidCode }
        // Without a challenge a verifier means nothing; an app that asks for everything has a challenge.
        guard code.challenge == nil ? !everything : code.challenge == verifier else {
            throw .wrongVerifier
        }
        guard client.state.isAdopted || !facts.owner.state.isFull(facts.realm.state.settings)
        else { throw .invalidCode }
        var decision = Decision()
        decision.letIn(
            client, metadata, by: facts.account.stream, atOnboarding: false, mail: mail)
        return OwnerDesk.openSession(
            code.id, after: decision, account: facts.account.standing(since: code.removals),
            factors: code.factors, scope: code.scope, client, metadata, request: (from, now),
            settings: facts.realm.state.settings
        ) { terms in
            terms.authenticatedAt = code.authenticatedAt
            terms.opener = facts.browser.opener
        }
    }
}
