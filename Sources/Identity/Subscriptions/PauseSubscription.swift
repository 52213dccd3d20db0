public import EventSourcing
public import Values

/// Stops a subscription until it is resumed. Nothing of what happens meanwhile is lost.
public struct PauseSubscription: Command {
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
        guard facts.thing.isThere(.webhook) else { throw .notFound }
        guard facts.thing.state.standing == .active else { return Decision() }
        return Decision(SubscriptionEvent.paused, in: id)
    }
}
