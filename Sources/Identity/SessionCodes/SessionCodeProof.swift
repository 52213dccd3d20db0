public import EventSourcing
public import Values

/// A session code that came to a page.
public struct SessionCodeProof: SignInProof {
    public var code: UUID

    public init(code: UUID) {
        self.code = code
    }

    public struct Facts: Sendable {
        let code: Versioned<SessionCode>
        let account: Versioned<Account>?
        let line: OpenerLine
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let code = try await streams.read(SessionCode.self, code)
        let line = try await OpenerLine.read(code.state.terms?.opener, from: streams)
        guard let terms = code.state.terms else {
            return Facts(code: code, account: nil, line: line)
        }
        return Facts(
            code: code, account: try await streams.read(Account.self, terms.account), line: line)
    }

    public func account(_ facts: Facts) -> UUID? { facts.account?.stream }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        guard let terms = facts.code.state.terms, !facts.code.state.isUsed,
            desk.request.now < terms.expiresAt,
            terms.webApp == nil || terms.webApp == desk.browser?.webApp
        else { throw .invalidCode }
        guard let account = facts.account, account.isWelcome,
            account.state.stamp.holds(terms.stamp, terms.factors)
        else { throw .accountBlocked }
        // A code that was got before opens nothing for a removed installation, nor without what it was got by.
        guard facts.line.isStanding(at: desk.request.now),
            account.state.keeps(
                terms.stamp, terms.factors,
                at: [terms.opener?.installation.map { .client($0) }])
        else { throw .invalidCode }
        let used = Decision(
            SessionCodeEvent.used(browser: desk.request.session), in: facts.code.stream)
        var desk = desk
        desk.browser?.opener = terms.opener
        return desk.open(
            after: used, account: account.standing, scope: [],
            factors: terms.factors)
    }
}
