public import EventSourcing
public import Values

/// Has the events of a realm sent to an address.
public struct CreateWebhook: Command {
    public var id: UUID
    public var terms: SubscriptionTerms
    public var secret: SubscriptionSecret
    /// Nil: what happens from now on.
    public var startsAfter: Int64?
    /// In development.
    public var mayBeLoopback: Bool

    public init(
        id: UUID, terms: SubscriptionTerms, secret: SubscriptionSecret, startsAfter: Int64? = nil,
        mayBeLoopback: Bool = false
    ) {
        self.id = id
        self.terms = terms
        self.secret = secret
        self.startsAfter = startsAfter
        self.mayBeLoopback = mayBeLoopback
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
        do { try terms.check(.webhook, mayBeLoopback: mayBeLoopback) } catch {
            throw .invalid(error)
        }
        return Decision(
            SubscriptionEvent.created(
                .webhook, terms, secret: secret, startsAfter: startsAfter), in: id)
    }
}
