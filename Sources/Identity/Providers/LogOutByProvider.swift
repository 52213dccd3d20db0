public import EventSourcing
public import Values

/// Back-channel logout: ends the sessions here that one session at the provider opened, or all of a
/// person's. The logout token is used up by that, also where it ends no session.
public struct LogOutByProvider: Command {
    public enum Whom: Equatable, Sendable {
        /// What follows from the provider's name for the session.
        case session(UUID)
        case account(UUID)
        /// An identity that is linked to no account.
        case nobody
    }

    public var token: UsedLogoutToken
    public var whom: Whom

    public init(_ token: UsedLogoutToken, _ whom: Whom) {
        self.token = token
        self.whom = whom
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// The provider's word was taken before.
        case used
    }

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let session: EndUpstreamSession.Facts?
        let account: InRealm<Account>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let realm = try await streams.read(Realm.self, Realm.stream)
        switch whom {
        case .session(let id):
            return Facts(
                realm: realm, session: try await EndUpstreamSession(id).gather(streams),
                account: nil)
        case .account(let id):
            return Facts(
                realm: realm, session: nil,
                account: try await RotateSecurityStamp(account: id).gather(streams))
        case .nobody: return Facts(realm: realm, session: nil, account: nil)
        }
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        var decision = Decision()
        // The realm is open, and who is not here any more has nothing that could end.
        switch whom {
        case .session(let id):
            if let facts = facts.session { decision = EndUpstreamSession(id).decide(facts) }
        case .account(let id):
            if let facts = facts.account,
                let ended = try? RotateSecurityStamp(account: id).decide(facts)
            {
                decision = ended
            }
        case .nobody: break
        }
        decision.take(token.claim, for: Realm.stream)
        return decision
    }

    public func rejection(takenClaim kind: String) -> Rejection { .used }
}
