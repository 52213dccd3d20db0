public import EventSourcing
public import Values

/// Has a link mailed by which the holder of the mailbox sets another passphrase for their account.
///
/// Against account enumeration, the caller gets the same answer for every outcome; the outcome is
/// for the metrics alone.
public struct RequestPassphraseReset: AnsweringCommand, TimedCommand {
    public var app: UUID?
    public var mailbox: UUID
    public var link: UUID
    /// What the link begins with: from the configuration, never from the request.
    public var base: String
    public var now: Timestamp
    /// Where the person goes on after the reset.
    public var returnPath: ReturnPath?

    public init(
        app: UUID? = nil, mailbox: UUID, link: UUID, base: String, now: Timestamp
    ) {
        self.app = app
        self.mailbox = mailbox
        self.link = link
        self.base = base
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// Sign-in by passphrase is not offered here.
        case notOffered
    }

    public enum Outcome: Equatable, Sendable {
        case issued
        /// No account holds the mailbox, its holder has not proved it, or may not sign in.
        case nobody
        /// A link was mailed a moment ago, or as many as may be good at once.
        case tooSoon
    }

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let settings: Settings
        let account: Versioned<Account>?
        let link: Versioned<MailedLink>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let (realm, settings) = try await Realm.settings(of: app, from: streams)
        let mailbox = try await streams.read(Mailbox.self, mailbox)
        guard let holder = mailbox.state.account else {
            return Facts(realm: realm, settings: settings, account: nil, link: nil)
        }
        return Facts(
            realm: realm, settings: settings,
            account: try await streams.read(Account.self, holder),
            link: try await streams.read(
                MailedLink.self, MailedLink.stream(of: holder, .passphraseReset)))
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        guard facts.settings.offers(.passphrase) else { throw .notOffered }
        guard let account = facts.account, let link = facts.link, account.isWelcome,
            account.state.isConfirmed
        else { return SettledDecision(.nobody) }
        let delay = facts.settings[SettingCatalogue.otpResendDelay]
        if let last = link.state.issuedAt(of: account.state), now < last.adding(seconds: delay) {
            return SettledDecision(.tooSoon)
        }
        guard !link.state.isFull(of: account.state, at: now) else {
            return SettledDecision(.tooSoon)
        }
        return SettledDecision(
            Decision(
                MailedLinkEvent.issued(
                    IssuedMailedLink(
                        id: self.link, purpose: .passphraseReset, account: account.stream,
                        base: base, returnPath: returnPath, issuedAt: now,
                        generation: account.state.proofGeneration)), in: link.stream),
            .issued)
    }
}
