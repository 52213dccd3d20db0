public import EventSourcing
public import Values

/// Ends a session and all its tokens. A session that has ended already stays as it is.
public struct EndSession: Command {
    public var session: UUID
    public var reason: SessionEnd
    /// Only if it is this account's: the caller learns nothing of other accounts' sessions.
    public var account: UUID?

    /// How its client is told, where it wants to be.
    public var notice: NoticeOrder?

    public init(
        session: UUID, reason: SessionEnd, of account: UUID? = nil, notice: NoticeOrder? = nil
    ) {
        self.session = session
        self.reason = reason
        self.account = account
        self.notice = notice
    }

    public typealias Rejection = NotFound<Session>

    public struct Facts: Sendable {
        let session: Versioned<Session>
        let client: Versioned<Client>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let session = try await streams.read(Session.self, session)
        guard notice != nil, let client = session.state.terms?.client else {
            return Facts(session: session, client: nil)
        }
        return Facts(session: session, client: try await streams.read(Client.self, client))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        let state = facts.session.state
        // An attempt that was refused has the name of a session and is none.
        guard let terms = state.terms, account == nil || terms.account == account else {
            throw .notFound
        }
        guard state.end == nil else { return Decision() }
        return Decision(
            SessionEvent.ended(reason, notice: isTold(facts, terms) ? notice : nil), in: session,
            of: terms.account)
    }

    /// Whether there is a client that wants to hear of it, and what to tell it.
    func isTold(_ facts: Facts, _ terms: SessionTerms) -> Bool {
        facts.client?.aliveMetadata?.logoutURI != nil && terms.account != nil
            && (terms.issuer ?? notice?.issuer) != nil
    }
}
