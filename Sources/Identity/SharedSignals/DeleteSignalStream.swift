public import EventSourcing
public import Values

/// Deletes a stream of signals; nothing more is sent, not even what is on its way.
public struct DeleteSignalStream: Command {
    public var id: UUID
    /// Only if it is this client's.
    public var client: UUID

    public init(id: UUID, client: UUID) {
        self.id = id
        self.client = client
    }

    public typealias Rejection = NotFound<SignalStream>

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<SignalStream> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<SignalStream>) throws(Rejection) -> Decision {
        guard let terms = facts.thing.state.aliveTerms, terms.client == client else {
            throw .notFound
        }
        var decision = Decision(SignalStreamEvent.deleted, in: id)
        decision.release(terms.claim, by: id)
        return decision
    }
}
