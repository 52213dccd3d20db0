public import EventSourcing
public import Values

/// Lets an owner take the realm over, with the token that they were given and a first passphrase.
public struct OnboardOwner: AnsweringCommand {
    /// The name that the token follows from.
    public var token: UUID
    public var passphrase: DerivedPassphrase
    public var mail: UUID
    public var request: OwnerRequest

    public init(
        token: UUID, passphrase: DerivedPassphrase, mail: UUID, request: OwnerRequest
    ) {
        self.token = token
        self.passphrase = passphrase
        self.mail = mail
        self.request = request
    }

    public typealias Rejection = OwnerRefusal
    public typealias Outcome = OwnerOutcome

    public struct Facts: RealmFacts {
        let desk: OwnerDesk
        let passphrase: Versioned<Passphrase>?

        public var realm: Versioned<Realm> { desk.realm }
    }

    public func notBefore(_ time: Timestamp) -> Self {
        var later = self
        later.request.now = max(later.request.now, time)
        return later
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let desk = try await OwnerDesk.read(request, from: streams)
        guard let account = desk.account?.stream else { return Facts(desk: desk, passphrase: nil) }
        return Facts(
            desk: desk,
            passphrase: try await streams.read(Passphrase.self, Passphrase.stream(of: account)))
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        let desk = facts.desk
        try desk.requireOffered()
        _ = try desk.knownInstallation()
        guard let account = desk.account, account.isWelcome, let kept = facts.passphrase,
            !desk.owner.state.isOnboarded,
            desk.owner.state.registerToken(of: account.state) == token
        else { throw .invalidRegisterToken }
        var decision = Decision(
            OwnerEvent.onboarded(installation: request.installation ?? .zero), in: Owner.stream)
        decision.changePassphrase(
            .derived(passphrase, account: account.stream, mail: mail, at: request.now),
            in: kept.stream, of: account.stream)
        return try desk.open(
            after: decision, account: account, factors: [.passphrase], atOnboarding: true)
    }
}
