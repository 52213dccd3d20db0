public import EventSourcing
public import Values

/// Says which account a realm belongs to, and gives it a token to take it over with. Until it did, it may
/// be said again: the token before is worth nothing then.
public struct AppointOwner: Command {
    public var account: UUID
    /// The name that the token follows from.
    public var token: UUID

    public init(account: UUID, token: UUID) {
        self.account = account
        self.token = token
    }

    public enum Rejection: Error, Equatable, Sendable {
        case accountNotFound
        /// It has taken the realm over.
        case onboarded
    }

    public struct Facts: RealmFacts {
        let inRealm: InRealm<Owner>
        let account: Versioned<Account>

        public var realm: Versioned<Realm> { inRealm.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            inRealm: try await .read(Owner.stream, from: streams),
            account: try await streams.read(Account.self, account))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard facts.account.isWelcome else { throw .accountNotFound }
        guard !facts.inRealm.thing.state.isOnboarded else { throw .onboarded }
        return Decision(
            OwnerEvent.appointed(
                account, token: token, generation: facts.account.state.proofGeneration),
            in: Owner.stream)
    }
}
