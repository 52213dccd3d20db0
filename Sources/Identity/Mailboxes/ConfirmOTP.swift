public import EventSourcing
public import Values

/// Confirms a code by its link, in whichever browser it is opened. The page that asked for the code goes on,
/// and no other: see `OTPGrant.confirmed`.
public struct ConfirmOTP: Command, TimedCommand {
    public var mailbox: UUID
    /// The token in the link.
    public var shown: ShownSecret
    public var app: UUID?
    public var now: Timestamp

    public init(mailbox: UUID, shown: ShownSecret, app: UUID? = nil, now: Timestamp) {
        self.mailbox = mailbox
        self.shown = shown
        self.app = app
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// The code is wrong, expired, used, or was never sent.
        case invalid
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

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        let attempts = facts.settings[SettingCatalogue.otpAttempts]
        guard
            let code = facts.mailbox.state.liveCodes(
                at: now, attempts: attempts,
                generation: facts.account?.state.proofGeneration ?? 0
            ).first(where: { $0.base != nil && shown.matches($0.digest) })
        else { throw .invalid }
        guard !facts.mailbox.state.isConfirmed(code.id) else { return Decision() }
        return Decision(
            MailboxEvent.codeConfirmed(code.id), in: mailbox, of: facts.mailbox.subject)
    }
}
