public import EventSourcing
public import Values

/// Has a link mailed to a realm's owner: to sign in by, or to set another passphrase.
public struct RequestOwnerLink: TimedCommand {
    public var purpose: MailedLink.Purpose
    public var link: UUID
    /// What the link begins with: from the configuration, never from the request.
    public var base: String
    public var returnPath: ReturnPath?
    public var now: Timestamp

    public init(
        _ purpose: MailedLink.Purpose, link: UUID, base: String, returnPath: ReturnPath? = nil,
        now: Timestamp
    ) {
        self.purpose = purpose
        self.link = link
        self.base = base
        self.returnPath = returnPath
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// The realm is not of the profile, or does not mail such links.
        case notOffered
        /// There is none who has taken the realm over and may sign in.
        case noOwner
    }

    public struct Facts: RealmFacts {
        let owner: InRealm<Owner>
        let account: Versioned<Account>?
        let link: Versioned<MailedLink>?

        public var realm: Versioned<Realm> { owner.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let owner: InRealm<Owner> = try await .read(Owner.stream, from: streams)
        guard let account = owner.thing.state.account else {
            return Facts(owner: owner, account: nil, link: nil)
        }
        return Facts(
            owner: owner, account: try await streams.read(Account.self, account),
            link: try await streams.read(
                MailedLink.self, MailedLink.stream(of: account, purpose)))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        let realm = facts.owner.realm
        let settings = realm.state.settings
        guard settings.rules.hasOwner,
            purpose != .signIn || settings[SettingCatalogue.ownerLinks]
        else { throw .notOffered }
        guard let account = facts.account, account.isWelcome, account.state.isConfirmed,
            let link = facts.link, facts.owner.thing.state.isOnboarded
        else { throw .noOwner }
        // The owner has as many mails as that, each with a link that is good.
        guard !link.state.isFull(of: account.state, at: now) else { return Decision() }
        return Decision(
            MailedLinkEvent.issued(
                IssuedMailedLink(
                    id: self.link, purpose: purpose, account: account.stream, base: base,
                    returnPath: returnPath, issuedAt: now,
                    generation: account.state.proofGeneration)), in: link.stream)
    }
}
