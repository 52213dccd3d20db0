public import EventSourcing
public import Values

/// Has a code sent to a new mail address or phone number of a signed-in person: the code proves that mailbox.
///
/// Against account enumeration, the caller gets the same answer for every outcome; the outcome is
/// for the metrics alone.
public struct RequestMailboxMove: AnsweringCommand, TimedCommand {
    public var account: UUID
    /// The stream of the new address.
    public var mailbox: UUID
    /// With the new address.
    public var person: Person
    public var code: UUID
    /// Of the code together with the account, so that it is good for nothing else.
    public var digest: SecretDigest
    public var app: UUID?
    /// By what the code goes to the person.
    public var channel = Channel.mail
    public var now: Timestamp

    public init(
        account: UUID, mailbox: UUID, person: Person, code: UUID, digest: SecretDigest,
        app: UUID? = nil, now: Timestamp
    ) {
        self.account = account
        self.mailbox = mailbox
        self.person = person
        self.code = code
        self.digest = digest
        self.app = app
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case accountBlocked
        case invalid(FieldFault)
    }

    public enum Outcome: Equatable, Sendable {
        case issued
        case nothing(Reason)
    }

    /// Why no code is mailed.
    public enum Reason: Equatable, Sendable {
        /// An account has the mailbox: this one, or another.
        case taken
        case tooSoon
        case resting
    }

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let settings: Settings
        let account: Versioned<Account>
        let mailbox: Versioned<Mailbox>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let (realm, settings) = try await Realm.settings(of: app, from: streams)
        return Facts(
            realm: realm, settings: settings,
            account: try await streams.read(Account.self, account),
            mailbox: try await streams.read(Mailbox.self, mailbox))
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        guard facts.account.isWelcome else { throw .accountBlocked }
        guard channel == .mail || facts.settings[SettingCatalogue.phoneSignIn] else {
            throw .invalid(FieldFault("phone", .unsupported))
        }
        do {
            try person.check(for: channel)
        } catch {
            throw .invalid(error)
        }
        let state = facts.mailbox.state
        guard state.account == nil else { return SettledDecision(.nothing(.taken)) }
        if state.isRestingFromMoves(at: now) { return SettledDecision(.nothing(.resting)) }
        let delay = facts.settings[SettingCatalogue.otpResendDelay]
        if let code = state.move(of: facts.account), now < code.issuedAt.adding(seconds: delay) {
            return SettledDecision(.nothing(.tooSoon))
        }
        let lifetime = facts.settings[SettingCatalogue.otpLifetime]
        var issued = IssuedCode(
            id: code, purpose: .move, digest: digest, app: app, issuedAt: now,
            expiresAt: now.adding(seconds: lifetime), person: person)
        issued.account = account
        issued.channel = channel
        issued.generation = facts.account.state.proofGeneration
        return SettledDecision(
            Decision(MailboxEvent.codeIssued(issued), in: mailbox, of: facts.mailbox.subject),
            .issued)
    }
}
