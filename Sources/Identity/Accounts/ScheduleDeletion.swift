public import EventSourcing
public import Values

/// Has an account deleted once the realm's grace is over. Until then its person is kept out and all its
/// sessions are over, and it can be called off.
public struct ScheduleDeletion: TimedCommand {
    public var account: UUID
    /// The name of the mail that tells its person.
    public var mail: UUID?
    /// What the link in it begins with by which the person calls it off: where the person asks.
    public var keepBase: String?
    /// Without the realm's grace period: for the realm's administrators.
    public var isAtOnce: Bool
    public var now: Timestamp

    public init(
        account: UUID, mail: UUID? = nil, keepBase: String? = nil, isAtOnce: Bool = false,
        now: Timestamp
    ) {
        self.account = account
        self.mail = mail
        self.keepBase = keepBase
        self.isAtOnce = isAtOnce
        self.now = now
    }

    public typealias Rejection = NotFound<Account>

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Account> {
        try await .read(account, from: streams)
    }

    public func decide(_ facts: InRealm<Account>) throws(Rejection) -> Decision {
        guard facts.thing.isAlive else { throw .notFound }
        let grace =
            isAtOnce ? 0 : facts.realm.state.settings[SettingCatalogue.accountDeletionGrace]
        let due = now.adding(seconds: grace)
        // What is to come sooner already stays as it is.
        if let known = facts.thing.state.deletionDue, known <= due { return Decision() }
        // An account that is deleted at once gets no notice.
        let mail = isAtOnce ? nil : facts.thing.mail(mail)
        // A link that does not arrive in time is useless.
        let base = mail == nil || grace == 0 ? nil : keepBase
        return Decision(
            AccountEvent.deletionScheduled(due: due, mail: mail, base: base), in: account)
    }
}
