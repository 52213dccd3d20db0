public import EventSourcing
public import Values

/// An assertion that a person's app signed by the key of its session, and that a service forwards. The
/// assertion is single-use.
public struct AppAssertionGrant: Grant {
    /// The stream of the assertion, and the session that it opens: both follow from what was signed.
    public var assertion: UUID
    public var session: UUID
    /// The session of the person's app, whose key signed it.
    public var above: UUID
    public var keyID: String

    public init(assertion: UUID, session: UUID, above: UUID, keyID: String) {
        self.assertion = assertion
        self.session = session
        self.above = above
        self.keyID = keyID
    }

    public static let type = GrantType.jwtBearer

    public var sessionName: UUID? { session }

    public struct Facts: Sendable {
        let assertion: Versioned<FederatedAssertion>
        let line: Superiors
        let account: Versioned<Account>?
        let standing: Versioned<ServiceStanding>?
    }

    /// The service that shows it.
    public var service: UUID?

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let assertion = try await streams.readNew(FederatedAssertion.self, assertion)
        let line = try await Superiors.read([above], from: streams)
        guard let account = line.last?.state.terms?.account, let service else {
            return Facts(assertion: assertion, line: line, account: nil, standing: nil)
        }
        return Facts(
            assertion: assertion, line: line,
            account: try await streams.read(Account.self, account),
            standing: try await streams.read(
                ServiceStanding.self, ServiceStanding.stream(of: account, at: service)))
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
        guard desk.metadata.rules.isFederationService, service == desk.request.client,
            !facts.assertion.exists, facts.line.areAlive(at: desk),
            let person = facts.line.last, let terms = person.state.terms,
            let token = terms.federation, token.holder == .person, token.confirmation != nil,
            let device = token.device, let account = facts.account,
            account.state.keeps(terms)
        else { throw .invalidAssertion }
        guard account.isWelcome else { throw .accountBlocked }
        guard facts.standing?.state.isRefused != true else { throw .exchangeNotAllowed }
        let scope = try desk.grantedScope()
        let decision = Decision(
            FederatedAssertionEvent.redeemed(
                session: session, account: account.stream, device: device,
                client: desk.request.client, clientID: desk.request.clientID),
            in: facts.assertion.stream, of: account.stream)
        var desk = desk
        desk.federation = FederatedToken(
            holder: .service, keyID: keyID, device: device,
            superiors: token.line(below: person.stream))
        return desk.open(
            after: decision, account: account.standing, scope: scope,
            factors: terms.factors)
    }
}
