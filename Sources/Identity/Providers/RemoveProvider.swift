public import EventSourcing

/// Takes a provider's word no more. Who signed in by it has to find another way.
public struct RemoveProvider: Command {
    public var slug: String

    public init(_ slug: String) {
        self.slug = slug
    }

    public enum Rejection: Error, Equatable, Sendable {
        case realmNotFound
        case realmDisabled
        case notFound
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<Providers> {
        try await .read(Providers.stream, from: streams)
    }

    public func decide(_ facts: InRealm<Providers>) throws(Rejection) -> Decision {
        try facts.realm.requireOpen(
            missing: Rejection.realmNotFound, disabled: .realmDisabled)
        guard let provider = facts.thing.state[slug] else { throw .notFound }
        return Decision(ProviderEvent.removed(provider.slug), in: Providers.stream)
    }
}
