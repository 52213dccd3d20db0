public import EventSourcing
public import Values

/// Puts on record that nothing sent to a subscription has been taken for hours, and tells the realm's contact.
public struct WarnOfSubscription: Command {
    public var id: UUID
    public var since: Timestamp
    public var mail: UUID?

    public init(id: UUID, since: Timestamp, mail: UUID?) {
        self.id = id
        self.since = since
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
        let state = facts.thing.state
        // In whole seconds, as the event has it.
        let whole = Timestamp(seconds: since.seconds)
        guard state.standing == .active, state.warnedSince != whole else { return Decision() }
        return Decision(SubscriptionEvent.failing(since: whole, mail: mail), in: id)
    }
}
