public import EventSourcing
public import Values

/// Makes a subscription in one of the places that a realm has for its kind.
public protocol SubscriptionCreation: Command
where Facts == InRealm<Subscription>, Rejection == SubscriptionCreationRejection {
    static var kind: Subscription.Kind { get }

    var id: UUID { get }
    /// The slot of the subscription. Another slot has to be tried where it is occupied.
    var slot: Int { get set }
    var terms: SubscriptionTerms { get }
    /// In development.
    var mayBeLoopback: Bool { get }
    var created: SubscriptionEvent { get }
}

/// Why no subscription is made.
public enum SubscriptionCreationRejection: Error, Equatable, Sendable {
    case idTaken
    /// Another subscription has its place, or there is no such place.
    case slotTaken
    case invalid(FieldFault)
}

extension SubscriptionCreation {
    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<Subscription> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Subscription>) throws(Rejection) -> Decision {
        guard !facts.thing.exists else { throw .idTaken }
        guard (0..<Self.kind.limit).contains(slot) else { throw .slotTaken }
        do { try terms.check(Self.kind, mayBeLoopback: mayBeLoopback) } catch {
            throw .invalid(error)
        }
        var decision = Decision(created, in: id)
        decision.take(Subscription.claim(of: Self.kind, slot: slot), for: id)
        return decision
    }

    public func rejection(takenClaim kind: String) -> Rejection { .slotTaken }
}
