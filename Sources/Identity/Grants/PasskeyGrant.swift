public import EventSourcing
public import Values

/// A passkey that answered a challenge. The adapter has verified what takes cryptography; the
/// decision compares it with what is known of the passkey.
public struct PasskeyGrant: Grant {
    /// What came of the adapter's verification.
    public enum Proof: Equatable, Sendable {
        case verified(PasskeyUse)
        /// In words for programs, for the record; and whose it would have been, if that is known.
        case refused(reason: String, account: UUID?)
        case nothing
    }

    /// Nil where this server has begun no such ceremony for this client.
    public var ceremony: UUID?
    public var proof: Proof

    public init(ceremony: UUID?, proof: Proof) {
        self.ceremony = ceremony
        self.proof = proof
    }

    public static let type = GrantType.nativePasskey

    public struct Facts: Sendable {
        let passkey: Versioned<Passkey>?
        let account: Versioned<Account>?
    }

    /// The ceremony is single-use, with any credential that is presented, and the session has its
    /// name.
    public var sessionName: UUID? { ceremony }

    public var isUsedInVain: Bool { ceremony != nil }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        guard case .verified(let use) = proof else { return Facts(passkey: nil, account: nil) }
        let passkey = try await streams.read(Passkey.self, use.passkey)
        guard let owner = passkey.state.enrolled?.account else {
            return Facts(passkey: passkey, account: nil)
        }
        return Facts(passkey: passkey, account: try await streams.read(Account.self, owner))
    }

    public func account(_ facts: Facts) -> UUID? {
        if case .refused(_, let account) = proof { return account }
        return facts.account?.stream
    }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        guard let ceremony else { throw .unknownCeremony }
        let scope = try desk.grantedScope()
        guard !Passkey.isOver(ceremony, at: desk.request.now) else {
            throw .invalidCeremony("ceremony_expired")
        }
        let use: PasskeyUse
        switch proof {
        case .refused(let reason, _): throw .passkeyRefused(reason)
        case .nothing: throw .invalidCeremony("assertion_missing")
        case .verified(let verified): use = verified
        }
        guard let passkey = facts.passkey, let enrolled = passkey.alive,
            let account = facts.account
        else { throw use.isRemembered ? .passkeyOutdated : .passkeyRefused("unknown_passkey") }
        try check(use, of: passkey, enrolled, at: desk)
        guard account.isWelcome else { throw .passkeyRefused("account_blocked") }
        let used = PasskeyEvent.used(
            counter: use.counter, isBackedUp: use.isBackedUp, at: desk.request.now)
        return desk.open(
            after: Decision(used, in: passkey.stream),
            account: account.standing, scope: scope, factors: [.passkey])
    }

    private func check(
        _ use: PasskeyUse, of passkey: Versioned<Passkey>, _ enrolled: EnrolledPasskey,
        at desk: GrantDesk
    ) throws(GrantRefusal) {
        let domain = PasskeyDomain.id(desk.settings, chosenBy: desk.metadata.passkeyDomain)
        guard use.relyingParty == enrolled.relyingParty, use.relyingParty == domain else {
            throw .passkeyRefused("other_relying_party")
        }
        guard use.isBackupEligible == enrolled.key.isBackupEligible else {
            throw .passkeyRefused("backup_eligibility_changed")
        }
        // WebAuthn Level 3, section 4: the first user verification of an authenticator proves
        // nothing. A finder of one without user verification could have set up their own.
        guard enrolled.key.isUserVerified else {
            throw .passkeyRefused("enrolled_without_user_verification")
        }
        // Many authenticators do not count. One that does and has not counted on may be a copy.
        let counts = use.counter != 0 || passkey.state.counter != 0
        guard !counts || use.counter > passkey.state.counter else {
            throw .passkeyRefused("counter_went_back")
        }
    }
}

/// What a verified assertion says.
public struct PasskeyUse: Equatable, Sendable {
    public var passkey: UUID
    /// The domain that the ceremony was begun for.
    public var relyingParty: String
    public var counter: Int64
    public var isBackupEligible: Bool
    public var isBackedUp: Bool
    /// What it was verified with was remembered: the passkey may have been removed since.
    public var isRemembered: Bool

    public init(
        passkey: UUID, relyingParty: String, counter: Int64, isBackupEligible: Bool,
        isBackedUp: Bool, isRemembered: Bool = false
    ) {
        self.passkey = passkey
        self.relyingParty = relyingParty
        self.counter = counter
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
        self.isRemembered = isRemembered
    }
}
