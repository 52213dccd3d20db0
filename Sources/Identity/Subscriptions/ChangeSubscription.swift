public import EventSourcing
public import Values

/// Changes what a subscription sends, where and how. What was not sent yet is sent by the new terms.
public struct ChangeSubscription: Command {
    public var id: UUID
    public var kind: Subscription.Kind
    public var terms: SubscriptionTerms
    public var mayBeLoopback: Bool

    public init(
        id: UUID, kind: Subscription.Kind = .webhook, terms: SubscriptionTerms,
        mayBeLoopback: Bool = false
    ) {
        self.id = id
        self.kind = kind
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
        guard facts.thing.isThere(kind) else { throw .notFound }
        do { try terms.check(kind, mayBeLoopback: mayBeLoopback) } catch { throw .invalid(error) }
        guard terms != facts.thing.state.terms else { return Decision() }
        return Decision(SubscriptionEvent.changed(terms), in: id)
    }
}

extension Versioned<Subscription> {
    func isThere(_ kind: Subscription.Kind) -> Bool {
        exists && state.kind == kind && state.standing != .deleted
    }
}
