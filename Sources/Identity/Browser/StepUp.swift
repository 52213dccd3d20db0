public import EventSourcing
public import Values

/// Step-up authentication: a second factor of a person who is signed in with a browser already,
/// where a request asks for a stronger sign-in. Factors shown before count, as long as it was not
/// long ago.
public struct StepUp: SignInProof {
    public var account: UUID
    /// The browser's session.
    public var session: UUID
    public var second: TypedFactor

    public init(account: UUID, session: UUID, second: TypedFactor) {
        self.account = account
        self.session = session
        self.second = second
    }

    public struct Facts: Sendable {
        let account: Versioned<Account>
        let session: Versioned<BrowserSession>
        let second: Versioned<TwoFactor>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            account: try await streams.read(Account.self, account),
            session: try await streams.read(BrowserSession.self, session),
            second: try await streams.read(TwoFactor.self, TwoFactor.stream(of: account)))
    }

    public func account(_ facts: Facts) -> UUID? { facts.account.exists ? account : nil }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> Settled<GrantOutcome> {
        let now = desk.request.now
        guard facts.account.isWelcome else { throw .accountBlocked }
        guard let terms = facts.session.state.terms, facts.session.state.end == nil,
            terms.account == account, terms.stamp == facts.account.state.stamp,
            now < terms.expiresAt, facts.second.state.enrolled != nil,
            SignedIn(client: nil, app: nil, at: terms.openedAt).isTooOld(at: now, desk.settings)
                == nil
        else { throw .invalidCode }
        return desk.open(
            after: Decision(), orKeeping: Decision(), account: facts.account,
            second: facts.second, second, scope: [], factors: terms.factors)
    }
}
