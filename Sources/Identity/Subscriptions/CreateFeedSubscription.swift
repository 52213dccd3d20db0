public import EventSourcing
public import Values

/// Has the server keep how far a reader of the realm's feed is.
public struct CreateFeedSubscription: Command {
    public var id: UUID
    public var terms: SubscriptionTerms
    /// The reader's first event stands behind this position.
    public var startsAfter: Int64

    public init(id: UUID, terms: SubscriptionTerms, startsAfter: Int64) {
        self.id = id
        self.terms = terms
        self.startsAfter = startsAfter
    }

    public enum Rejection: Error, Equatable, Sendable {
        case idTaken
        case invalid(FieldFault)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<Subscription> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Subscription>) throws(Rejection) -> Decision {
        guard !facts.thing.exists else { throw .idTaken }
        do { try terms.check(.feed) } catch { throw .invalid(error) }
        return Decision(
            SubscriptionEvent.created(.feed, terms, secret: nil, startsAfter: startsAfter), in: id)
    }
}
