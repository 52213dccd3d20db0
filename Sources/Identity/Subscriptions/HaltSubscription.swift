public import EventSourcing
public import Values

/// Puts on record that a subscription waits at an event that cannot be sent.
public struct HaltSubscription: Command {
    public var id: UUID
    public var position: Int64
    public var reason: String

    public init(id: UUID, position: Int64, reason: String) {
        self.id = id
        self.position = position
        self.reason = reason
    }

    public typealias Rejection = NotFound<Subscription>

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<Subscription> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Subscription>) throws(Rejection) -> Decision {
        guard facts.thing.isThere(.webhook) else { throw .notFound }
        guard facts.thing.state.standing == .active, facts.thing.state.haltedAt != position else {
            return Decision()
        }
        return Decision(SubscriptionEvent.halted(position: position, reason: reason), in: id)
    }
}
