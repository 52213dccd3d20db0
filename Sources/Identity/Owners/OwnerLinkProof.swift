public import EventSourcing
public import Values

/// A link that was mailed to a realm's owner, as a browser came with it.
public struct OwnerLinkProof: SignInProof {
    public var link: UUID
    /// What came of comparing the passphrase, if one was typed.
    public var comparison: PassphraseProof.Comparison?

    public init(link: UUID, comparison: PassphraseProof.Comparison? = nil) {
        self.link = link
        self.comparison = comparison
    }

    public struct Facts: Sendable {
        let owner: Versioned<Owner>
        let holder: Holder?
    }

    struct Holder: Sendable {
        let account: Versioned<Account>
        let shown: OwnerLinkFacts
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let owner = try await streams.read(Owner.self, Owner.stream)
        guard let id = owner.state.account else { return Facts(owner: owner, holder: nil) }
        return Facts(
            owner: owner,
            holder: Holder(
                account: try await streams.read(Account.self, id),
                shown: try await .read(id, from: streams)))
    }

    public func account(_ facts: Facts) -> UUID? { facts.holder?.account.stream }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        guard let holder = facts.holder, facts.owner.state.isOnboarded else {
            throw .invalidLink
        }
        let account = holder.account
        guard account.isWelcome else { throw .accountBlocked }
        switch holder.shown.examine(
            link, comparison, needsPassphrase: facts.owner.state.needsMailedCode,
            of: account, at: desk.request.now)
        {
        case .over: throw .invalidLink
        case .passphraseMissing: throw .secondFactorRequired
        case .passphraseWrong(let guess):
            return SettledDecision(guess, .failure(.invalidPassphrase))
        case .good(let decision, let factors):
            return desk.open(
                after: decision, account: account.standing, scope: [],
                factors: factors)
        }
    }
}
