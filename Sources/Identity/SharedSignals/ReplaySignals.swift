public import EventSourcing
public import Values

/// Has the signals of what happened after a position of the log sent once more.
public struct ReplaySignals: Command {
    public var stream: UUID
    /// Only if it is this client's.
    public var client: UUID
    public var after: Int64

    public init(stream: UUID, client: UUID, after: Int64) {
        self.stream = stream
        self.client = client
        self.after = after
    }

    public typealias Rejection = NotFound<SignalStream>

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<SignalStream> {
        try await .read(stream, from: streams)
    }

    public func decide(_ facts: InRealm<SignalStream>) throws(Rejection) -> Decision {
        guard facts.thing.state.aliveTerms?.client == client else { throw .notFound }
        return Decision(SignalStreamEvent.replayed(after: after), in: stream)
    }
}
