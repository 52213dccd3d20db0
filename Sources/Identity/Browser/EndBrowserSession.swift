public import EventSourcing
public import Values

/// Signs a browser out. One that is signed out already stays as it is; a session that another one of the same person
/// and browser took the place of is ended in earnest, so that no code that came of it is good any more. With a session
/// the first one of its line ends, which every earlier one of the line leads back to.
public struct EndBrowserSession: Command {
    public var session: UUID
    public var reason: BrowserSessionEnd
    /// Only if it is this account's: the caller learns nothing of other accounts' sessions.
    public var account: UUID

    public init(session: UUID, reason: BrowserSessionEnd, of account: UUID) {
        self.session = session
        self.reason = reason
        self.account = account
    }

    public typealias Rejection = NotFound<BrowserSession>

    public struct Facts: Sendable {
        let session: Versioned<BrowserSession>
        let first: Versioned<BrowserSession>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let session = try await streams.read(BrowserSession.self, session)
        guard let line = session.state.terms?.line else {
            return Facts(session: session, first: nil)
        }
        return Facts(
            session: session, first: try await streams.read(BrowserSession.self, line))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        // An attempt that was refused has the name of a session and is none.
        guard let terms = facts.session.state.terms, terms.account == account else {
            throw .notFound
        }
        var decision = Decision()
        for session in [facts.session, facts.first].compactMap({ $0 })
        where session.state.terms?.account == account
            && (session.state.end == nil
                || session.state.end == .replaced && reason != .replaced)
        {
            decision.append(BrowserSessionEvent.ended(reason), in: session.stream, of: account)
        }
        return decision
    }
}
