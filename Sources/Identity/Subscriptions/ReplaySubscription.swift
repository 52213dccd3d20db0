public import EventSourcing
public import Values

/// Puts on record that events are sent to a subscription again.
public struct ReplaySubscription: Command {
    public var id: UUID
    public var replay: SubscriptionReplay
    /// How many were queued: a repeat of the request is answered the same.
    public var queued: Int64
    /// Where a range goes on that was too long.
    public var next: Int64?

    public init(id: UUID, replay: SubscriptionReplay, queued: Int64, next: Int64? = nil) {
        self.id = id
        self.replay = replay
        self.queued = queued
        self.next = next
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case invalid(FieldFault)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<Subscription> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Subscription>) throws(Rejection) -> Decision {
        guard facts.thing.isThere(.webhook) else { throw .notFound }
        if case .range(let from, let to, let types) = replay {
            guard from >= 1 else {
                throw .invalid(FieldFault("from", .outOfRange(lowest: 1, highest: to)))
            }
            guard from <= to else { throw .invalid(FieldFault("from", .conflicts(with: "to"))) }
            do { try SubscriptionFilter(types: types).check() } catch { throw .invalid(error) }
        }
        return Decision(SubscriptionEvent.replayed(replay, queued: queued, next: next), in: id)
    }
}
