public import EventSourcing
public import Values

/// Changes what a subscription sends, where and how. What was not delivered yet is sent by the new terms.
public struct ChangeSubscription: Command {
    public var id: UUID
    public var terms: SubscriptionTerms
    public var mayBeLoopback: Bool

    public init(id: UUID, terms: SubscriptionTerms, mayBeLoopback: Bool = false) {
        self.id = id
        self.terms = terms
        self.mayBeLoopback = mayBeLoopback
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
        guard facts.thing.isThere else { throw .notFound }
        do { try terms.check(mayBeLoopback: mayBeLoopback) } catch { throw .invalid(error) }
        guard terms != facts.thing.state.terms else { return Decision() }
        return Decision(SubscriptionEvent.changed(terms), in: id)
    }
}

extension Versioned<Subscription> {
    var isThere: Bool { exists && state.standing != .deleted }
}
