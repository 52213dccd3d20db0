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
        let line: OpenerLine
        let second: Versioned<TwoFactor>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let browser = try await streams.read(BrowserSession.self, session)
        return Facts(
            account: try await streams.read(Account.self, account), session: browser,
            line: try await .read(browser.state.terms?.opener, from: streams),
            second: try await streams.read(TwoFactor.self, TwoFactor.stream(of: account)))
    }

    public func account(_ facts: Facts) -> UUID? { facts.account.exists ? account : nil }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        let now = desk.request.now
        guard facts.account.isWelcome else { throw .accountBlocked }
        guard let terms = facts.session.state.terms, facts.session.state.end == nil,
            terms.account == account, facts.account.state.keeps(terms),
            facts.line.isStanding(at: now), now < terms.expiresAt,
            facts.second.state.enrolled != nil,
            SignedIn(client: nil, app: nil, at: terms.openedAt).isTooOld(at: now, desk.settings)
                == nil
        else { throw .invalidCode }
        // Who shows a second factor alone has not signed in anew.
        var desk = desk
        desk.browser?.opener = terms.opener
        return desk.open(
            after: Decision(), orKeeping: Decision(), account: facts.account,
            second: facts.second, second, scope: [], factors: terms.factors)
    }
}
