public import EventSourcing
public import Values

/// Has the events of a realm sent to an address.
public struct CreateWebhook: Command, SubscriptionCreation {
    public static let kind = Subscription.Kind.webhook

    public var id: UUID
    public var slot: Int
    public var terms: SubscriptionTerms
    public var secret: SubscriptionSecret
    /// The position to start after; nil for the end of the log.
    public var startsAfter: Int64?
    /// In development.
    public var mayBeLoopback: Bool

    public init(
        id: UUID, slot: Int = 0, terms: SubscriptionTerms, secret: SubscriptionSecret,
        startsAfter: Int64? = nil, mayBeLoopback: Bool = false
    ) {
        self.id = id
        self.slot = slot
        self.terms = terms
        self.secret = secret
        self.startsAfter = startsAfter
        self.mayBeLoopback = mayBeLoopback
    }

    public var created: SubscriptionEvent {
        .created(.webhook, terms, secret: secret, startsAfter: startsAfter, slot: slot)
    }
}
