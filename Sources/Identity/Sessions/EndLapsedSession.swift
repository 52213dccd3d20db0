public import EventSourcing
public import Values

/// Has a client told of a session that ended without a word of its own: with its account, because its person
/// logged out everywhere, because access was removed, or with what it was opened by. A session
/// that goes on stays as it is.
public struct EndLapsedSession: TimedCommand {
    public var session: UUID
    public var notice: NoticeOrder
    public var now: Timestamp

    public init(session: UUID, notice: NoticeOrder, now: Timestamp) {
        self.session = session
        self.notice = notice
        self.now = now
    }

    public typealias Rejection = EndSession.Rejection

    public struct Facts: Sendable {
        let end: EndSession.Facts
        let account: Versioned<Account>?
        let openers: OpenerLine
    }

    private var command: EndSession {
        EndSession(session: session, reason: .lapsed, notice: notice)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let end = try await command.gather(streams)
        let openers = try await OpenerLine.read(end.session.state.terms?.opener, from: streams)
        guard let account = end.session.state.terms?.account else {
            return Facts(end: end, account: nil, openers: openers)
        }
        return Facts(
            end: end, account: try await streams.read(Account.self, account), openers: openers)
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard let terms = facts.end.session.state.terms, let account = facts.account else {
            throw .notFound
        }
        guard
            !account.isWelcome || !account.state.keeps(terms) || facts.openers.isOver(at: now)
        else { return Decision() }
        return try command.decide(facts.end)
    }
}
