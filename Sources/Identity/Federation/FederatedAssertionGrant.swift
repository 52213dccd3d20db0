public import EventSourcing
public import Values

/// An assertion of this realm that a device shows to its service (RFC 7523). It is good once: the session that
/// it opens has a name that follows from its `jti`, so that a second one cannot be opened on any node.
public struct FederatedAssertionGrant: Grant {
    /// Its stream.
    public var assertion: UUID
    /// The session that it opens, and the `kid` of the token's key.
    public var session: UUID
    public var keyID: String
    /// The token endpoint that it was shown at.
    public var audience: String
    /// The service itself shows it, for what OpenID gives: the request's scope counts then.
    public var isRelayed = false

    public init(assertion: UUID, session: UUID, keyID: String, audience: String) {
        self.assertion = assertion
        self.session = session
        self.keyID = keyID
        self.audience = audience
    }

    public static let type = GrantType.jwtBearer

    public struct Facts: Sendable {
        let assertion: Versioned<FederatedAssertion>
        let line: Superiors
        let account: Versioned<Account>?
        let standing: Versioned<ServiceStanding>?
    }

    public var sessionName: UUID? { session }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let assertion = try await streams.read(FederatedAssertion.self, assertion)
        guard let terms = assertion.state.terms else {
            return Facts(
                assertion: assertion, line: try await Superiors.read([], from: streams),
                account: nil, standing: nil)
        }
        let person = try await streams.read(Session.self, terms.session)
        let above = person.state.terms?.federation?.superiors ?? []
        return Facts(
            assertion: assertion,
            line: try await Superiors.read(above + [terms.session], from: streams),
            account: try await streams.read(Account.self, terms.account),
            standing: try await streams.read(
                ServiceStanding.self,
                ServiceStanding.stream(of: terms.account, at: terms.service)))
    }

    public func account(_ facts: Facts) -> UUID? { facts.assertion.state.terms?.account }

    public func settleRepeated(
        _ session: Versioned<Session>, _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        throw .invalidAssertion
    }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        let now = desk.request.now
        guard let terms = facts.assertion.state.terms, !facts.assertion.state.isRedeemed,
            terms.service == desk.request.client, terms.audience == audience,
            now < terms.expiresAt, let person = facts.line.last,
            let above = person.state.terms?.federation, facts.line.areAlive(at: desk),
            let account = facts.account, person.state.terms.map(account.state.keeps) == true,
            account.state.admits([.client(terms.service)], since: terms.removals)
        else { throw .invalidAssertion }
        guard account.isWelcome else { throw .accountBlocked }
        guard facts.standing?.state.isRefused != true else { throw .exchangeNotAllowed }
        let scope = isRelayed ? try desk.grantedScope() : []
        let decision = Decision(
            FederatedAssertionEvent.redeemed(
                session: session, account: account.stream, device: terms.device,
                client: terms.service, clientID: terms.serviceID),
            in: facts.assertion.stream, of: account.stream)
        var desk = desk
        desk.federation = FederatedToken(
            holder: .service, keyID: keyID, device: terms.device,
            superiors: above.line(below: person.stream))
        return desk.open(
            after: decision, account: account.standing(since: terms.removals), scope: scope,
            factors: person.state.terms?.factors ?? [])
    }
}
