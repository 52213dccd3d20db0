public import EventSourcing
public import Values

/// Lets the owner of an account sign in with a new passkey from now on. What was presented uses the
/// ceremony up, also where it makes no passkey.
public struct EnrollPasskey: AnsweringCommand, TimedCommand {
    /// What came of the adapter's verification.
    public enum Proof: Equatable, Sendable {
        case verified(CredentialRecord)
        /// In words for programs, for the record.
        case refused(reason: String)
    }

    /// The name that the ceremony has, and the passkey gets.
    public var ceremony: UUID
    public var account: UUID
    public var session: SignedIn
    /// The domain that the ceremony was begun for.
    public var relyingParty: String
    public var proof: Proof
    public var mail: UUID
    public var now: Timestamp

    public init(
        ceremony: UUID, account: UUID, session: SignedIn, relyingParty: String, proof: Proof,
        mail: UUID, now: Timestamp
    ) {
        self.ceremony = ceremony
        self.account = account
        self.session = session
        self.relyingParty = relyingParty
        self.proof = proof
        self.mail = mail
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case nativeGrantsDisabled
        /// The account or the client may not go on.
        case notWelcome
        case signInTooOld(limit: Int64)
        /// The ceremony was gone through before.
        case ceremonyUsed
        /// Some account has this credential.
        case credentialTaken
    }

    public enum Outcome: Equatable, Sendable {
        case enrolled
        case tooLate
        case refused
    }

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let settings: Settings
        /// Nil: it is made on a page.
        let client: Versioned<Client>?
        let account: Versioned<Account>
        let passkey: Versioned<Passkey>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        var client: Versioned<Client>?
        if let id = session.client { client = try await streams.read(Client.self, id) }
        let (realm, settings) = try await Realm.settings(
            of: client?.state.metadata?.appID ?? session.app, from: streams)
        return Facts(
            realm: realm, settings: settings, client: client,
            account: try await streams.read(Account.self, account),
            passkey: try await streams.read(Passkey.self, ceremony))
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        // A tenant's app is offered what its page is.
        let isOfPage = facts.client.map { $0.aliveMetadata?.rules.isTenant ?? false } ?? true
        let isOffered =
            isOfPage
            ? facts.settings.offers(.passkey) : facts.settings[SettingCatalogue.nativeGrants]
        guard isOffered else { throw .nativeGrantsDisabled }
        if let client = facts.client {
            guard client.aliveMetadata != nil, !client.state.isDisabled else { throw .notWelcome }
        }
        guard facts.account.isWelcome else { throw .notWelcome }
        if let limit = session.isTooOld(at: now, facts.settings) {
            throw .signInTooOld(limit: limit)
        }
        guard !facts.passkey.exists else { throw .ceremonyUsed }
        if Passkey.isOver(ceremony, at: now) {
            return refused("ceremony_expired", .tooLate)
        }
        let domain = PasskeyDomain.id(
            facts.settings, chosenBy: facts.client?.aliveMetadata?.passkeyDomain)
        switch proof {
        case .refused(let reason): return refused(reason, .refused)
        case .verified where domain != relyingParty:
            return refused("other_relying_party", .refused)
        case .verified(let key):
            var decision = Decision(
                PasskeyEvent.enrolled(
                    EnrolledPasskey(
                        account: account, client: session.client, relyingParty: relyingParty,
                        key: key, enrolledAt: now, mail: mail)), in: ceremony)
            decision.take(Passkey.claim(key.id), for: ceremony)
            return SettledDecision(decision, .enrolled)
        }
    }

    private func refused(_ reason: String, _ outcome: Outcome) -> SettledDecision<Outcome> {
        SettledDecision(
            Decision(
                PasskeyEvent.enrollmentRefused(account: account, reason: reason), in: ceremony),
            outcome)
    }

    public func rejection(takenClaim kind: String) -> Rejection { .credentialTaken }
}
