public import EventSourcing
public import Values

/// Puts on record that nothing can be delivered to a subscription any more.
public struct DisableSubscription: Command {
    public var id: UUID
    public var reason: Subscription.DisableReason
    public var position: Int64?
    /// Only if messages are still sent there.
    public var url: String?
    /// By which the realm's contact is told.
    public var mail: UUID?

    public init(
        id: UUID, reason: Subscription.DisableReason, position: Int64? = nil, url: String? = nil,
        mail: UUID? = nil
    ) {
        self.id = id
        self.reason = reason
        self.position = position
        self.url = url
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
        if let url, url != state.terms.url { return Decision() }
        // A receiver may say that it wants nothing more after an administrator paused what it is sent.
        guard state.standing == .active || state.standing == .paused && reason == .gone else {
            return Decision()
        }
        return Decision(
            SubscriptionEvent.disabled(reason, position: position, mail: mail), in: id)
    }
}
