public import EventSourcing
public import Values

/// Lets a subscription go on: from where it stopped, or from behind a position. An active webhook
/// tries the deliveries that wait at once. Where the log was set back, the
/// position says that the receiver has undone what is lost.
public struct ResumeSubscription: Command {
    public var id: UUID
    public var startsAfter: Int64?

    public init(id: UUID, startsAfter: Int64? = nil) {
        self.id = id
        self.startsAfter = startsAfter
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case rewound(keptTo: Int64)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<Subscription> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Subscription>) throws(Rejection) -> Decision {
        guard facts.thing.isThere(.webhook) else { throw .notFound }
        let state = facts.thing.state
        if state.standing == .disabled(.rewound), startsAfter == nil {
            throw .rewound(keptTo: state.keptTo ?? 0)
        }
        return Decision(SubscriptionEvent.resumed(after: startsAfter), in: id)
    }
}
