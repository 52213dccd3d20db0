public import EventSourcing
public import Values

/// Mails an owner the link by which they take their realm over. One that went to another mailbox, or is
/// over for another reason, is worth nothing: this one has another token then.
public struct InviteOwner: Command {
    /// What the link begins with: from the configuration, never from the request.
    public var base: String
    public var mail: UUID
    /// The name that another token follows from, if there is to be another.
    public var token: UUID

    public init(base: String, mail: UUID, token: UUID) {
        self.token = token
        self.base = base
        self.mail = mail
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// No person waits to take the realm over.
        case nobodyWaits
    }

    public struct Facts: RealmFacts {
        let owner: InRealm<Owner>
        let account: Versioned<Account>?

        public var realm: Versioned<Realm> { owner.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let owner: InRealm<Owner> = try await .read(Owner.stream, from: streams)
        guard let account = owner.thing.state.account else {
            return Facts(owner: owner, account: nil)
        }
        return Facts(owner: owner, account: try await streams.read(Account.self, account))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        let owner = facts.owner.thing.state
        // An unconfirmed mailbox may be a stranger's: no realm is given away there.
        guard let account = facts.account, account.isWelcome, account.state.isConfirmed,
            !owner.isOnboarded
        else { throw .nobodyWaits }
        let (known, generation) = (
            owner.registerToken(of: account.state), account.state.proofGeneration
        )
        var decision = Decision()
        if known == nil {
            decision.append(
                OwnerEvent.appointed(account.stream, token: token, generation: generation),
                in: Owner.stream)
        }
        decision.append(
            OwnerEvent.invited(
                account.stream, token: known ?? token, base: base, mail: mail,
                generation: generation), in: Owner.stream)
        return decision
    }
}
