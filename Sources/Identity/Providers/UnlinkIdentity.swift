public import EventSourcing
public import Values

/// Unlinks a provider's identity from an account: it no longer signs in there.
public struct UnlinkIdentity: Command {
    /// What follows from account and provider.
    public var place: UUID
    public var account: UUID
    public var provider: String

    public init(place: UUID, account: UUID, provider: String) {
        self.place = place
        self.account = account
        self.provider = provider
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notLinked
    }

    public struct Facts: RealmFacts {
        let inRealm: InRealm<AccountIdentity>
        let identity: Versioned<ProviderIdentity>?

        public var realm: Versioned<Realm> { inRealm.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let inRealm: InRealm<AccountIdentity> = try await .read(place, from: streams)
        guard let known = inRealm.thing.state.identity else {
            return Facts(inRealm: inRealm, identity: nil)
        }
        return Facts(
            inRealm: inRealm, identity: try await streams.read(ProviderIdentity.self, known))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard let identity = facts.identity else { throw .notLinked }
        var decision = Decision(AccountIdentityEvent.dropped(account: account), in: place)
        if identity.state.account == account {
            decision.append(
                ProviderIdentityEvent.unlinked(account, provider: provider), in: identity.stream)
        }
        return decision
    }
}
