public import EventSourcing
public import Values

/// Ends a session and all its tokens. One that is over already stays as it is.
public struct EndSession: Command {
    public var session: UUID
    public var reason: SessionEnd

    public init(session: UUID, reason: SessionEnd) {
        self.session = session
        self.reason = reason
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<Session> {
        try await streams.read(Session.self, session)
    }

    public func decide(_ facts: Versioned<Session>) throws(Rejection) -> Decision {
        guard facts.exists else { throw .notFound }
        guard facts.state.end == nil else { return Decision() }
        return Decision(SessionEvent.ended(reason), in: session)
    }
}
