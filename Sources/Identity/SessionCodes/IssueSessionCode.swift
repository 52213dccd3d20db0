public import EventSourcing
public import Values

/// Gives a certified installation a code that opens a web view as somebody who is signed in.
public struct IssueSessionCode: Command {
    /// The stream of the code.
    public var code: UUID
    /// The session whose token was shown.
    public var session: UUID
    public var now: Timestamp

    public init(code: UUID, session: UUID, now: Timestamp) {
        self.code = code
        self.session = session
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case realmNotFound
        case realmDisabled
        /// The session, its account or its installation may not go on, or may not do this.
        case notAllowed
    }

    public struct Facts: Sendable {
        let realm: Versioned<Realm>
        let session: Versioned<Session>
        let account: Versioned<Account>?
        let installation: Versioned<Client>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let realm = try await streams.read(Realm.self, Realm.stream)
        _ = try await streams.readNew(SessionCode.self, code)
        let session = try await streams.read(Session.self, session)
        guard let terms = session.state.terms, let account = terms.account else {
            return Facts(realm: realm, session: session, account: nil, installation: nil)
        }
        return Facts(
            realm: realm, session: session,
            account: try await streams.read(Account.self, account),
            installation: try await streams.read(Client.self, terms.client))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        try facts.realm.requireOpen(
            missing: Rejection.realmNotFound, disabled: .realmDisabled)
        guard let terms = facts.session.state.terms, facts.session.state.end == nil,
            terms.method == .flagship, terms.scope.contains(Installation.scope),
            now < terms.expiresAt,
            let account = facts.account, account.isWelcome, account.state.stamp == terms.stamp,
            let installation = facts.installation, installation.installation(at: now) != nil,
            installation.state.certification != nil
        else { throw .notAllowed }
        return Decision(
            SessionCodeEvent.issued(
                SessionCodeTerms(
                    account: account.stream, stamp: terms.stamp,
                    installation: installation.stream, factors: terms.factors,
                    expiresAt: now.adding(seconds: SessionCode.lifetime))), in: code)
    }
}
