public import EventSourcing
public import Values

/// Puts on record that the authentication of a client failed, once or several times.
public struct RecordRefusedClient: Command {
    /// The name that the session would have had.
    public var attempt: UUID
    public var refused: RefusedSignIn

    public init(attempt: UUID, _ refused: RefusedSignIn) {
        self.attempt = attempt
        self.refused = refused
    }

    public enum Rejection: Error, Equatable, Sendable {
        case idTaken
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<Session> {
        try await streams.read(Session.self, attempt)
    }

    public func decide(_ facts: Versioned<Session>) throws(Rejection) -> Decision {
        guard !facts.exists else { throw .idTaken }
        return Decision(SessionEvent.refused(refused), in: attempt)
    }
}
