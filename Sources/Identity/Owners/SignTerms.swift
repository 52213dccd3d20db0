public import EventSourcing

/// Puts on record that a realm's owner agrees to its terms as they are.
public struct SignTerms: Command {
    public init() {}

    public typealias Rejection = VouchForMailbox.Rejection

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Owner> {
        try await .read(Owner.stream, from: streams)
    }

    public func decide(_ facts: InRealm<Owner>) throws(Rejection) -> Decision {
        guard facts.thing.state.isOnboarded else { throw .noOwner }
        return Decision(OwnerEvent.termsSigned, in: Owner.stream)
    }
}
