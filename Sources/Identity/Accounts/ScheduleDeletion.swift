public import EventSourcing
public import Values

/// Has an account deleted once the realm's grace is over. Until then its person is kept out and all its
/// sessions are over, and it can be called off: by the link that its person is mailed, unless an administrator
/// orders it as well.
public struct ScheduleDeletion: TimedCommand {
    public var account: UUID
    /// The name of the mail that tells its person.
    public var mail: UUID?
    /// What the link in it begins with by which the person calls it off: where the person asks.
    public var keepBase: String?
    /// An administrator orders it.
    public var isAdministrators: Bool
    /// Without the realm's grace period: for the realm's administrators.
    public var isAtOnce: Bool
    public var now: Timestamp

    public init(
        account: UUID, mail: UUID? = nil, keepBase: String? = nil, isAdministrators: Bool = false,
        isAtOnce: Bool = false, now: Timestamp
    ) {
        self.account = account
        self.mail = mail
        self.keepBase = keepBase
        self.isAdministrators = isAdministrators || isAtOnce
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
        var due = now.adding(seconds: grace)
        if let known = facts.thing.state.deletionDue {
            let isAdministratorsKnown = facts.thing.state.isDeletionAdministrators
            // An administrator's order takes over from the person's; the person's changes nothing of an administrator's.
            let takesOver = isAdministrators && !isAdministratorsKnown
            let isSooner = due < known && isAdministrators == isAdministratorsKnown
            // What is to come sooner already stays as it is.
            guard takesOver || isSooner else { return Decision() }
            due = min(known, due)
        }
        // An account that is deleted at once gets no notice.
        let mail = isAtOnce ? nil : facts.thing.mail(mail)
        // A link that does not arrive in time is useless.
        let base = mail == nil || grace == 0 || isAdministrators ? nil : keepBase
        return Decision(
            AccountEvent.deletionScheduled(
                due: due, mail: mail, base: base, isAdministrators: isAdministrators),
            in: account)
    }
}
