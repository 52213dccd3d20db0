public import EventSourcing
public import Values

/// Ends a session and all its tokens. One that is over already stays as it is.
public struct EndSession: Command {
    public var session: UUID
    public var reason: SessionEnd
    /// Only if it is this account's: of others' sessions nobody learns anything.
    public var account: UUID?

    public init(session: UUID, reason: SessionEnd, of account: UUID? = nil) {
        self.session = session
        self.reason = reason
        self.account = account
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
        // An attempt that was refused has the name of a session and is none.
        guard let terms = facts.state.terms, account == nil || terms.account == account else {
            throw .notFound
        }
        guard facts.state.end == nil else { return Decision() }
        return Decision(SessionEvent.ended(reason), in: session, of: terms.account)
    }
}
