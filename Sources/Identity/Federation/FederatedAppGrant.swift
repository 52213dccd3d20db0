public import EventSourcing
public import Values

/// Another app on the device that the person lets speak for them at a service, by the app's token there.
public struct FederatedAppGrant: Grant {
    /// The session of the service's token.
    public var above: UUID
    public var keyID: String
    /// What the app calls itself.
    public var application: String
    /// The session that is opened, named after what was shown: good once.
    public var session: UUID

    public init(above: UUID, keyID: String, application: String, session: UUID) {
        self.above = above
        self.keyID = keyID
        self.application = application
        self.session = session
    }

    public static let type = GrantType.jwtBearer

    public var sessionName: UUID? { session }

    public struct Facts: Sendable {
        let line: Superiors
        let account: Versioned<Account>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let service = try await streams.read(Session.self, above)
        let superiors = service.state.terms?.federation?.superiors ?? []
        var account: Versioned<Account>?
        if let holder = service.state.terms?.account {
            account = try await streams.read(Account.self, holder)
        }
        return Facts(
            line: try await Superiors.read(superiors + [above], from: streams), account: account)
    }

    public func account(_ facts: Facts) -> UUID? { facts.line.last?.state.terms?.account }

    public func settleRepeated(
        _ session: Versioned<Session>, _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        throw .invalidAssertion
    }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        guard let service = facts.line.last, let terms = service.state.terms,
            let token = terms.federation, token.holder == .service,
            terms.client == desk.request.client, facts.line.areAlive(at: desk),
            let account = facts.account, account.isWelcome,
            account.state.keeps(terms)
        else { throw .invalidAssertion }
        // Without a list the service offers no protocol to other apps.
        guard !desk.metadata.scope.isEmpty else { throw .unknownScope }
        let scope = try desk.grantedScope()
        var desk = desk
        desk.federation = FederatedToken(
            holder: .application, keyID: keyID, device: token.device,
            superiors: token.line(below: service.stream), application: application)
        return desk.open(
            account: account.standing, scope: scope, factors: terms.factors)
    }
}
