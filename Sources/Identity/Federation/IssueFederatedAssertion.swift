public import EventSourcing
public import Values

/// Issues an assertion by which the app on a device shows the person who signed in on it to one service.
public struct IssueFederatedAssertion: TimedCommand {
    /// Its stream.
    public var assertion: UUID
    /// The session of the person's token.
    public var session: UUID
    public var service: UUID
    public var audience: String
    /// What the device calls itself, where the assertion shows that.
    public var deviceName: String?
    /// Lifetime of the assertion in seconds.
    public var lifetime: Int64
    public var now: Timestamp

    public init(
        assertion: UUID, session: UUID, service: UUID, audience: String, lifetime: Int64,
        now: Timestamp
    ) {
        self.assertion = assertion
        self.session = session
        self.service = service
        self.audience = audience
        self.lifetime = lifetime
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// There is no such service, or it is disabled.
        case noSuchService
        /// The person's token is not good, or not any more.
        case signedOut
        case used
    }

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let assertion: Versioned<FederatedAssertion>
        let line: Superiors
        let client: Versioned<Client>
        let account: Versioned<Account>?
    }

    /// In seconds: an assertion is shown at once.
    public static let longest: Int64 = 3600

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let own = try await streams.read(Session.self, session)
        let above = own.state.terms?.federation?.superiors ?? []
        var account: Versioned<Account>?
        if let holder = own.state.terms?.account {
            account = try await streams.read(Account.self, holder)
        }
        return Facts(
            realm: try await streams.read(Realm.self, Realm.stream),
            assertion: try await streams.readNew(FederatedAssertion.self, assertion),
            line: try await Superiors.read(above + [session], from: streams),
            client: try await streams.read(Client.self, service), account: account)
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard !facts.assertion.exists else { throw .used }
        guard let terms = facts.line.last?.state.terms, let token = terms.federation,
            token.holder == .person, let device = token.device, facts.line.areAlive(at: now),
            let account = facts.account,
            account.isWelcome, account.state.keeps(terms)
        else { throw .signedOut }
        guard facts.client.aliveMetadata?.rules.isFederationService == true,
            !facts.client.state.isDisabled
        else { throw .noSuchService }
        var issued = FederatedAssertionTerms(
            account: account.stream, session: session, device: device, service: service,
            serviceID: facts.client.state.clientID, party: terms.clientID, deviceName: deviceName,
            audience: audience, issuedAt: now,
            expiresAt: now.adding(seconds: min(lifetime, Self.longest)))
        issued.removals = account.state.stamp.removals
        return Decision(
            FederatedAssertionEvent.issued(issued), in: assertion, of: account.stream)
    }
}
