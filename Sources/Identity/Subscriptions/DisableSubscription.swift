public import EventSourcing
public import Values

/// Puts on record that nothing can be delivered to a subscription any more.
public struct DisableSubscription: Command {
    public var id: UUID
    public var reason: Subscription.DisableReason
    public var position: Int64?
    /// By which the realm's contact is told.
    public var mail: UUID?

    public init(
        id: UUID, reason: Subscription.DisableReason, position: Int64? = nil, mail: UUID? = nil
    ) {
        self.id = id
        self.reason = reason
        self.position = position
        self.mail = mail
    }

    public typealias Rejection = NotFound<Subscription>

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<Subscription> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Subscription>) throws(Rejection) -> Decision {
        guard facts.thing.isThere(.webhook) else { throw .notFound }
        guard facts.thing.state.standing == .active else { return Decision() }
        return Decision(
            SubscriptionEvent.disabled(reason, position: position, mail: mail), in: id)
    }
}
