public import EventSourcing
public import Values

/// Has the server keep how far a reader of the realm's feed is.
public struct CreateFeedSubscription: Command, SubscriptionCreation {
    public static let kind = Subscription.Kind.feed

    public var id: UUID
    public var slot: Int
    public var terms: SubscriptionTerms
    /// The reader's first event stands behind this position.
    public var startsAfter: Int64

    public init(id: UUID, slot: Int = 0, terms: SubscriptionTerms, startsAfter: Int64) {
        self.id = id
        self.slot = slot
        self.terms = terms
        self.startsAfter = startsAfter
    }

    public var mayBeLoopback: Bool { false }

    public var created: SubscriptionEvent {
        .created(.feed, terms, secret: nil, startsAfter: startsAfter, slot: slot)
    }
}
