public import EventSourcing

/// Cancels a realm owner's move: the link that was mailed to another address is worth nothing.
public struct CancelOwnerMove: Command {
    public init() {}

    public typealias Rejection = Never

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Owner> {
        try await .read(Owner.stream, from: streams)
    }

    public func decide(_ facts: InRealm<Owner>) -> Decision {
        guard let move = facts.thing.state.requestedMove else { return Decision() }
        return Decision(OwnerEvent.moveEnded(code: move.code), in: Owner.stream)
    }
}
