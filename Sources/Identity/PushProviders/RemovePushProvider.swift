public import EventSourcing

/// Removes the push provider for devices of one kind from a realm.
public struct RemovePushProvider: Command {
    public var kind: PushProvider.Kind

    public init(_ kind: PushProvider.Kind) {
        self.kind = kind
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notSet
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<PushProviders> {
        try await .read(PushProviders.stream, from: streams)
    }

    public func decide(_ facts: InRealm<PushProviders>) throws(Rejection) -> Decision {
        let isSet =
            switch kind {
            case .firebase: facts.thing.state.firebase != nil
            case .apple: facts.thing.state.apple != nil
            }
        guard isSet else { throw .notSet }
        return Decision(PushProviderEvent.removed(kind), in: PushProviders.stream)
    }
}
