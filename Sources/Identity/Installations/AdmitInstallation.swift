public import EventSourcing
public import Values

/// Lets an installation in that the owner gives a code to: it is not pending any more, whether or not it
/// redeems the code.
public struct AdmitInstallation: TimedCommand {
    public var installation: UUID
    /// The owner who allowed it.
    public var account: UUID
    /// The name of the mail that tells of a new device.
    public var mail: UUID
    public var now: Timestamp

    public init(installation: UUID, account: UUID, mail: UUID, now: Timestamp) {
        self.installation = installation
        self.account = account
        self.mail = mail
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        /// The realm has another owner.
        case notOwner
        /// The realm lets in no more of them.
        case full
    }

    public struct Facts: RealmFacts {
        let inRealm: InRealm<Client>
        let owner: Versioned<Owner>

        public var realm: Versioned<Realm> { inRealm.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            inRealm: try await .read(installation, from: streams),
            owner: try await streams.read(Owner.self, Owner.stream))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        let client = facts.inRealm.thing
        guard let metadata = client.installation(at: now) else { throw .notFound }
        guard facts.owner.state.account == account else { throw .notOwner }
        var decision = Decision()
        guard !client.state.isAdopted else { return decision }
        guard !facts.owner.state.isFull(facts.inRealm.realm.state.settings) else { throw .full }
        decision.letIn(client, metadata, by: account, atOnboarding: false, mail: mail)
        return decision
    }
}
