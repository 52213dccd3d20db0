public import EventSourcing
public import Values

/// Puts on record that a refresh token was refused which this server gave: of each session once an hour.
public struct RecordRefusedRefresh: TimedCommand {
    /// What the token is of; that it is authentic is known already.
    public var session: UUID
    /// The client that presented the token.
    public var client: UUID
    public var clientID: String
    public var from: SignInPlace
    public var now: Timestamp

    public init(
        session: UUID, client: UUID, clientID: String, from: SignInPlace = SignInPlace(),
        now: Timestamp
    ) {
        self.session = session
        self.client = client
        self.clientID = clientID
        self.from = from
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// There is no such session.
        case unknownSession
        /// It is on record for this hour.
        case enough
    }

    public struct Facts: Sendable {
        let session: Versioned<Session>
        let account: Versioned<Account>?
        /// The stream of refusals of this session in this hour.
        let attempt: Versioned<Session>
    }

    public static func attempt(with session: UUID, at now: Timestamp) -> UUID {
        let hour = UInt64(bitPattern: now.seconds / 3600)
        return UUID(high: session.high, low: session.low ^ hour << 20 ^ 0x7272)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let session = try await streams.read(Session.self, session)
        var account: Versioned<Account>?
        if let holder = session.state.terms?.account {
            account = try await streams.read(Account.self, holder)
        }
        return Facts(
            session: session, account: account,
            attempt: try await streams.read(
                Session.self, Self.attempt(with: self.session, at: now)))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard let terms = facts.session.state.terms else { throw .unknownSession }
        guard !facts.attempt.exists else { throw .enough }
        return Decision(
            SessionEvent.refused(
                RefusedSignIn(
                    method: .refreshToken, reason: reason(terms, facts), account: terms.account,
                    client: client, clientID: clientID, app: terms.app, from: from)),
            in: facts.attempt.stream, of: terms.account)
    }

    private func reason(_ terms: SessionTerms, _ facts: Facts) -> String {
        if terms.client != client { return "other_client" }
        if facts.session.state.end != nil { return "session_ended" }
        if now >= terms.expiresAt { return "session_expired" }
        if let account = facts.account {
            if !account.isWelcome { return "account_blocked" }
            if !account.state.stamp.holds(terms.stamp, terms.factors) {
                return "signed_out_everywhere"
            }
            if !account.state.keeps(terms) { return "access_removed" }
        }
        return "invalid_refresh_token"
    }
}
