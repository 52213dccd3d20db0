public import EventSourcing
internal import Values

/// Gives a realm a key to sign tokens with where it has none of that algorithm. It is idempotent: a
/// second server changes nothing, so that every server may try.
public struct AddFirstSigningKey: Command {
    public var first: NewSigningKey

    public init(first: NewSigningKey) {
        self.first = first
    }

    public typealias Rejection = Never

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<SigningKeys> {
        try await .read(SigningKeys.stream, from: streams)
    }

    public func decide(_ facts: InRealm<SigningKeys>) -> Decision {
        guard facts.thing.state.active(first.algorithm) == nil else { return Decision() }
        var decision = Decision(SigningKeyEvent.published(first), in: SigningKeys.stream)
        decision.append(SigningKeyEvent.activated(first.id), in: SigningKeys.stream)
        return decision
    }
}
