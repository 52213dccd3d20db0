public import EventSourcing
public import Values

/// Has a link mailed that signs in the holder of the mailbox.
///
/// Against account enumeration, the caller gets the same answer for every outcome; the outcome is
/// for the metrics alone.
public struct RequestMagicLink: AnsweringCommand, TimedCommand {
    public var app: UUID?
    public var mailbox: UUID
    public var person: Person
    /// The id that the token follows from, and the keyed digest of the token.
    public var link: UUID
    public var digest: SecretDigest
    /// What the link begins with: from the configuration, never from the request.
    public var base: String
    public var returnPath: ReturnPath?
    public var mail: UUID
    public var now: Timestamp
    /// It leads to a page: what is set for pages holds.
    public var isForPage = false

    public init(
        app: UUID? = nil, mailbox: UUID, person: Person, link: UUID, digest: SecretDigest,
        base: String, returnPath: ReturnPath? = nil, mail: UUID, now: Timestamp
    ) {
        self.app = app
        self.mailbox = mailbox
        self.person = person
        self.link = link
        self.digest = digest
        self.base = base
        self.returnPath = returnPath
        self.mail = mail
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case invalid(FieldFault)
    }

    public enum Outcome: Equatable, Sendable {
        case issued
        case nothing(Reason)
    }

    /// Why no link is mailed.
    public enum Reason: Equatable, Sendable {
        /// No sign-in method of the realm would accept the link.
        case nativeGrantsDisabled
        /// No account holds the mailbox, or its holder has not proved it yet.
        case notRegistered
        case blocked
        /// A link was mailed a moment ago, or as many as may be good at once.
        case tooSoon
    }

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let settings: Settings
        let mailbox: Versioned<Mailbox>
        let account: Versioned<Account>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let (realm, settings) = try await Realm.settings(of: app, from: streams)
        let mailbox = try await streams.read(Mailbox.self, mailbox)
        var account: Versioned<Account>?
        if let holder = mailbox.state.account {
            account = try await streams.read(Account.self, holder)
        }
        return Facts(realm: realm, settings: settings, mailbox: mailbox, account: account)
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        do {
            try person.check(for: .mail)
        } catch {
            throw .invalid(error)
        }
        let isOffered =
            isForPage ? facts.settings.offers(.link) : facts.settings[SettingCatalogue.nativeGrants]
        guard isOffered else {
            return SettledDecision(.nothing(.nativeGrantsDisabled))
        }
        guard let account = facts.account, account.isAlive, account.state.isConfirmed else {
            return SettledDecision(.nothing(.notRegistered))
        }
        guard account.isWelcome else { return SettledDecision(.nothing(.blocked)) }
        let delay = facts.settings[SettingCatalogue.otpResendDelay]
        if let last = facts.mailbox.state.newestLink,
            // An invalidated link does not delay a new one.
            last.generation == account.state.proofGeneration,
            now < last.issuedAt.adding(seconds: delay)
        {
            return SettledDecision(.nothing(.tooSoon))
        }
        // Links that others asked for stay good, and so do those that the person asked for.
        guard
            facts.mailbox.state.liveLinks(of: account.state, at: now).count < Mailbox.mostLinks
        else { return SettledDecision(.nothing(.tooSoon)) }
        let lifetime = facts.settings[SettingCatalogue.magicLinkLifetime]
        let issued = IssuedLink(
            id: link, account: account.stream, digest: digest, app: app, issuedAt: now,
            expiresAt: now.adding(seconds: lifetime), base: base, returnPath: returnPath,
            mail: mail,
            person: Person(email: person.email, language: person.language),
            generation: account.state.proofGeneration)
        return SettledDecision(
            Decision(MailboxEvent.linkIssued(issued), in: mailbox, of: facts.mailbox.subject),
            .issued)
    }
}
