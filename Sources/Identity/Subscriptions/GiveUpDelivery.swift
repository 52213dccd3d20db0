public import EventSourcing
public import Values

/// Puts on record that an event could not be delivered to a subscription.
public struct GiveUpDelivery: Command {
    public var subscription: UUID
    public var delivery: GivenUpDelivery

    public init(subscription: UUID, delivery: GivenUpDelivery) {
        self.subscription = subscription
        self.delivery = delivery
    }

    public typealias Rejection = NotFound<Subscription>

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<Subscription> {
        try await .read(subscription, from: streams)
    }

    public func decide(_ facts: InRealm<Subscription>) throws(Rejection) -> Decision {
        guard facts.thing.isThere(.webhook) else { throw .notFound }
        return Decision(SubscriptionEvent.givenUp(delivery), in: subscription)
    }
}
