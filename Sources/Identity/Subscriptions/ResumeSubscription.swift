public import EventSourcing
public import Values

/// Lets a subscription go on: from where it stopped, or from behind a position.
public struct ResumeSubscription: Command {
    public var id: UUID
    public var startsAfter: Int64?

    public init(id: UUID, startsAfter: Int64? = nil) {
        self.id = id
        self.startsAfter = startsAfter
    }

    public typealias Rejection = NotFound<Subscription>

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<Subscription> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Subscription>) throws(Rejection) -> Decision {
        guard facts.thing.isThere(.webhook) else { throw .notFound }
        if facts.thing.state.standing == .active, startsAfter == nil { return Decision() }
        return Decision(SubscriptionEvent.resumed(after: startsAfter), in: id)
    }
}
