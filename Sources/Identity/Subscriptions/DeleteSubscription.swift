public import EventSourcing
public import Values

/// Ends a subscription for good.
public struct DeleteSubscription: Command {
    public var id: UUID
    public var kind: Subscription.Kind

    public init(id: UUID, kind: Subscription.Kind = .webhook) {
        self.id = id
        self.kind = kind
    }

    public typealias Rejection = NotFound<Subscription>

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<Subscription> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Subscription>) throws(Rejection) -> Decision {
        guard facts.thing.isThere(kind) else { throw .notFound }
        var decision = Decision(SubscriptionEvent.deleted, in: id)
        if let slot = facts.thing.state.slot {
            decision.release(Subscription.claim(of: kind, slot: slot), by: id)
        }
        return decision
    }
}
