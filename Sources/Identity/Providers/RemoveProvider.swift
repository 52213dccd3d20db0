public import EventSourcing

/// Takes a provider's word no more. Who signed in by it has to find another way.
public struct RemoveProvider: Command {
    public var slug: String

    public init(_ slug: String) {
        self.slug = slug
    }

    public typealias Rejection = NotFound<Providers>

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<Providers> {
        try await .read(Providers.stream, from: streams)
    }

    public func decide(_ facts: InRealm<Providers>) throws(Rejection) -> Decision {
        guard let provider = facts.thing.state[slug] else { throw .notFound }
        return Decision(ProviderEvent.removed(provider.slug), in: Providers.stream)
    }
}
