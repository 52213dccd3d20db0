public import EventSourcing
public import Values

/// Lets whom a provider knows by this name sign in to an account: on the word of its person, who is
/// signed in to both, or of an administrator. Never because of a mail address.
public struct LinkIdentity: Command {
    /// What follows from issuer and subject, and from account and provider.
    public var identity: UUID
    public var place: UUID
    public var account: UUID
    public var provider: String
    /// The provider's name for the person.
    public var subject: String
    public var mail: UUID

    public init(
        identity: UUID, place: UUID, account: UUID, provider: String, subject: String, mail: UUID
    ) {
        self.identity = identity
        self.place = place
        self.account = account
        self.provider = provider
        self.subject = subject
        self.mail = mail
    }

    public enum Rejection: Error, Equatable, Sendable {
        case providerNotFound
        case accountNotFound
        /// Another account is signed in to by it.
        case linkedElsewhere
    }

    public struct Facts: RealmFacts {
        let providers: InRealm<Providers>
        let identity: Versioned<ProviderIdentity>
        let place: Versioned<AccountIdentity>
        let account: Versioned<Account>
        /// The account that the identity signs in now.
        let holder: Versioned<Account>?
        /// Who the account was at the provider until now.
        let before: Versioned<ProviderIdentity>?

        public var realm: Versioned<Realm> { providers.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let identity = try await streams.read(ProviderIdentity.self, identity)
        let place = try await streams.read(AccountIdentity.self, place)
        var holder: Versioned<Account>?
        if let known = identity.state.account, known != account {
            holder = try await streams.read(Account.self, known)
        }
        var before: Versioned<ProviderIdentity>?
        if let known = place.state.identity, known != self.identity {
            before = try await streams.read(ProviderIdentity.self, known)
        }
        return Facts(
            providers: try await .read(Providers.stream, from: streams), identity: identity,
            place: place, account: try await streams.read(Account.self, account), holder: holder,
            before: before)
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard facts.providers.thing.state[provider] != nil else { throw .providerNotFound }
        guard facts.account.isWelcome else { throw .accountNotFound }
        // One that is gone holds nothing.
        if let holder = facts.holder, holder.isAlive { throw .linkedElsewhere }
        guard facts.identity.state.account != account || facts.place.state.identity != identity
        else { return Decision() }
        var decision = Decision()
        if let before = facts.before, before.state.account == account {
            decision.append(
                ProviderIdentityEvent.unlinked(account, provider: provider), in: before.stream)
        }
        decision.append(
            ProviderIdentityEvent.linked(
                account, provider: provider, subject: subject, mail: facts.account.mail(mail)),
            in: identity)
        decision.append(AccountIdentityEvent.chosen(identity, account: account), in: place)
        return decision
    }
}
