public import EventSourcing
public import Values

/// Issues a code that signs an app in for a person whom a provider identified.
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

        public var realm: Versioned<Realm> { providers.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            providers: try await .read(Providers.stream, from: streams),
            code: try await streams.readNew(DelegatedCode.self, code))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard facts.providers.thing.state[terms.provider] != nil else { throw .providerNotFound }
        return Decision(DelegatedCodeEvent.issued(terms), in: code)
    }
}
