public import EventSourcing
public import Values

/// Has a client told of a session that ended without a word of its own: with its account, because its person
/// logged out everywhere, or because access was removed. One that goes on stays as it is.
public struct EndLapsedSession: Command {
    public var session: UUID
    public var notice: NoticeOrder

    public init(session: UUID, notice: NoticeOrder) {
        self.session = session
        self.notice = notice
    }

    public typealias Rejection = EndSession.Rejection

    public struct Facts: Sendable {
        let end: EndSession.Facts
        let account: Versioned<Account>?
    }

    private var command: EndSession {
        EndSession(session: session, reason: .lapsed, notice: notice)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let end = try await command.gather(streams)
        guard let account = end.session.state.terms?.account else {
            return Facts(end: end, account: nil)
        }
        return Facts(end: end, account: try await streams.read(Account.self, account))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard let terms = facts.end.session.state.terms, let account = facts.account else {
            throw .notFound
        }
        guard !account.isWelcome || !account.state.keeps(terms) else { return Decision() }
        return try command.decide(facts.end)
    }
}
