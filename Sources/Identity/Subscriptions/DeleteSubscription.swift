public import EventSourcing
public import Values

/// Ends a subscription for good.
public struct DeleteSubscription: Command {
    public var id: UUID

    public init(id: UUID) {
        self.id = id
    }

    public typealias Rejection = NotFound<Subscription>

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<Subscription> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Subscription>) throws(Rejection) -> Decision {
        guard facts.thing.isThere else { throw .notFound }
        return Decision(SubscriptionEvent.deleted, in: id)
    }
}
