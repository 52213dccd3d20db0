public import EventSourcing
public import Values

/// Tells a client that the browser signed out which its session came of, where the session itself goes on.
/// The client gets one notice.
public struct DetachSession: Command {
    public var session: UUID
    public var account: UUID
    public var notice: NoticeOrder

    public init(session: UUID, of account: UUID, notice: NoticeOrder) {
        self.session = session
        self.account = account
        self.notice = notice
    }

    public typealias Rejection = NotFound<Session>
    public typealias Facts = EndSession.Facts

    private var end: EndSession {
        EndSession(session: session, reason: .loggedOut, of: account, notice: notice)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        try await end.gather(streams)
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        let state = facts.session.state
        guard let terms = state.terms, terms.account == account else { throw .notFound }
        guard state.end == nil, !state.isDetached, end.isTold(facts, terms) else {
            return Decision()
        }
        return Decision(SessionEvent.detached(notice), in: session, of: account)
    }
}
