public import EventSourcing
public import Values

/// Sets another passphrase for the holder of the account's mailbox, by the link that was mailed
/// there. Every session ends, and the person is notified.
public struct ResetPassphrase: TimedCommand {
    public enum Chosen: Equatable, Sendable {
        /// The new hash of a passphrase that the device did not hash.
        case typed(hash: String)
        /// One that a device hashed first.
        case derived(DerivedPassphrase)
    }

    public var account: UUID
    public var link: UUID
    public var passphrase: Chosen
    public var mail: UUID
    public var now: Timestamp

    public init(
        account: UUID, link: UUID, passphrase: Chosen, mail: UUID, now: Timestamp
    ) {
        self.account = account
        self.link = link
        self.passphrase = passphrase
        self.mail = mail
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// Sign-in by such a passphrase is not offered here.
        case notOffered
        /// The link is over, was used, or is another account's.
        case linkOver
    }

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let account: Versioned<Account>
        let link: Versioned<MailedLink>
        let passphrase: Versioned<Passphrase>
        let owner: Versioned<Owner>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            realm: try await streams.read(Realm.self, Realm.stream),
            account: try await streams.read(Account.self, account),
            link: try await streams.read(
                MailedLink.self, MailedLink.stream(of: account, .passphraseReset)),
            passphrase: try await streams.read(Passphrase.self, Passphrase.stream(of: account)),
            owner: try await streams.read(Owner.self, Owner.stream))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard facts.account.isWelcome, facts.account.state.isConfirmed,
            facts.link.state.link(link, of: facts.account.state, at: now) != nil
        else { throw .linkOver }
        let event: PassphraseEvent
        switch passphrase {
        case .typed(let hash):
            // An owner's is derived by their devices: they would not get in with any other.
            guard facts.passphrase.state.derived == nil else { throw .notOffered }
            event = .set(hash: hash, account: account, mail: mail, at: now)
        case .derived(let derived):
            guard facts.owner.state.account == account, facts.owner.state.isOnboarded else {
                throw .notOffered
            }
            event = .derived(derived, account: account, mail: mail, at: now)
        }
        var decision = Decision(MailedLinkEvent.used(link), in: facts.link.stream)
        decision.append(event, in: facts.passphrase.stream)
        // Sessions opened with the former passphrase end on every node, and mailed codes and links
        // are invalidated.
        decision.append(AccountEvent.stampRotated(), in: account)
        return decision
    }
}
