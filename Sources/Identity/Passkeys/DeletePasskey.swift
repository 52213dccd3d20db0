public import EventSourcing
public import Values

/// Disables sign-in with a passkey for good. Its owner is told by mail.
public struct DeletePasskey: TimedCommand {
    public var passkey: UUID
    public var account: UUID
    public var session: SignedIn
    public var mail: UUID
    public var now: Timestamp

    public init(passkey: UUID, account: UUID, session: SignedIn, mail: UUID, now: Timestamp) {
        self.passkey = passkey
        self.account = account
        self.session = session
        self.mail = mail
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// There is none, or it is another account's.
        case notFound
        case signInTooOld(limit: Int64)
    }

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let settings: Settings
        let passkey: Versioned<Passkey>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let (realm, settings) = try await Realm.settings(of: session.app, from: streams)
        return Facts(
            realm: realm, settings: settings,
            passkey: try await streams.read(Passkey.self, passkey))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard let enrolled = facts.passkey.alive(of: account) else { throw .notFound }
        if let limit = session.isTooOld(at: now, facts.settings) {
            throw .signInTooOld(limit: limit)
        }
        var decision = Decision(PasskeyEvent.removed(account: account, mail: mail), in: passkey)
        decision.release(Passkey.claim(enrolled.key.id), by: passkey)
        return decision
    }
}
