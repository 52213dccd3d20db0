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
        let installation: Versioned<Client>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let code = try await streams.read(SessionCode.self, code)
        guard let terms = code.state.terms else {
            return Facts(code: code, account: nil, installation: nil)
        }
        let account = try await streams.read(Account.self, terms.account)
        guard let installation = terms.installation else {
            return Facts(code: code, account: account, installation: nil)
        }
        return Facts(
            code: code, account: account,
            installation: try await streams.read(Client.self, installation))
    }

    public func account(_ facts: Facts) -> UUID? { facts.account?.stream }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> Settled<GrantOutcome> {
        guard let terms = facts.code.state.terms, !facts.code.state.isUsed,
            desk.request.now < terms.expiresAt,
            terms.webApp == nil || terms.webApp == desk.browser?.webApp
        else { throw .invalidCode }
        guard let account = facts.account, account.isWelcome,
            account.state.stamp == terms.stamp
        else { throw .accountBlocked }
        // A removed installation opens no web view with a code it got before.
        if let installation = facts.installation,
            installation.aliveMetadata == nil || installation.state.isDisabled
                || !account.state.keeps(terms.stamp, terms.removals, at: installation.stream)
        {
            throw .invalidCode
        }
        let used = Decision(
            SessionCodeEvent.used(browser: desk.request.session), in: facts.code.stream)
        return desk.open(
            after: used, account: account.standing, scope: [],
            factors: terms.factors)
    }
}
