public import EventSourcing
public import Values

/// Issues a code that signs an app in for a person whom a provider identified. It is of the stamp that their account has
/// now, or of an earlier one where what the provider signed is older.
public struct IssueDelegatedCode: Command {
    public var code: UUID
    public var terms: DelegatedCodeTerms

    public init(code: UUID, terms: DelegatedCodeTerms) {
        self.code = code
        self.terms = terms
    }

    public enum Rejection: Error, Equatable, Sendable {
        case providerNotFound
    }

    public struct Facts: RealmFacts {
        let providers: InRealm<Providers>
        let code: Versioned<DelegatedCode>
        let account: Versioned<Account>?

        public var realm: Versioned<Realm> { providers.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let identity = try await streams.read(ProviderIdentity.self, terms.identity)
        var account: Versioned<Account>?
        if let id = identity.state.account {
            account = try await streams.read(Account.self, id)
        }
        return Facts(
            providers: try await .read(Providers.stream, from: streams),
            code: try await streams.readNew(DelegatedCode.self, code), account: account)
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard facts.providers.thing.state[terms.provider] != nil else { throw .providerNotFound }
        var terms = terms
        terms.stamp = terms.stamp ?? facts.account?.state.stamp
        return Decision(DelegatedCodeEvent.issued(terms), in: code)
    }
}
