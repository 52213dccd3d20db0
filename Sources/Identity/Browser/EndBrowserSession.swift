public import EventSourcing
public import Values

/// Signs a browser out. One that is signed out already stays as it is; a session that another one of the same person
/// and browser took the place of is ended in earnest, so that no code that came of it is good any more.
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

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<BrowserSession> {
        try await streams.read(BrowserSession.self, session)
    }

    public func decide(_ facts: Versioned<BrowserSession>) throws(Rejection) -> Decision {
        // An attempt that was refused has the name of a session and is none.
        guard let terms = facts.state.terms, terms.account == account else { throw .notFound }
        guard facts.state.end == nil || facts.state.end == .replaced && reason != .replaced else {
            return Decision()
        }
        return Decision(BrowserSessionEvent.ended(reason), in: session, of: terms.account)
    }
}
