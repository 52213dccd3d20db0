public import EventSourcing
public import Values

/// Puts on record what became of a notification, and where it goes on from there.
public struct RecordNotification: TimedCommand {
    public enum Outcome: Sendable, Equatable {
        case pushed(NotificationRoute, [UUID])
        /// Not now: what a provider answered, 0 where none was reached, and how many seconds it wants
        /// to be left alone.
        case refusedForNow(code: Int, pause: Int64?)
        /// No device took it, and none will.
        case refusedForGood(code: Int)
        /// The recipient is gone, or there is nothing to say.
        case pointless
    }

    public var notification: UUID
    public var outcome: Outcome
    /// The name of the mail that it becomes, if it does.
    public var mail: UUID
    public var now: Timestamp

    public init(notification: UUID, outcome: Outcome, mail: UUID, now: Timestamp) {
        self.notification = notification
        self.outcome = outcome
        self.mail = mail
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        /// Another node was faster, or a later notification took its place.
        case alreadySettled
    }

    /// Some minutes: a mail now is better than a push notification tomorrow.
    static let pauses: [Int64] = [5, 20, 60, 300, 600]
    static let longestPause: Int64 = 1_800

    public struct Facts: Sendable {
        let inRealm: InRealm<Notification>
        let account: Versioned<Account>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let inRealm: InRealm<Notification> = try await .read(notification, from: streams)
        var account: Versioned<Account>?
        if let id = inRealm.thing.state.terms?.account {
            account = try await streams.read(Account.self, id)
        }
        return Facts(inRealm: inRealm, account: account)
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        let state = facts.inRealm.thing.state
        guard state.terms != nil else { throw .notFound }
        guard state.status == .due else { throw .alreadySettled }
        let attempt = state.attempts + 1
        switch outcome {
        case .pushed(let route, let clients):
            return Decision(
                NotificationEvent.pushed(attempt: attempt, route, clients), in: notification)
        case .pointless:
            return Decision(
                NotificationEvent.failed(attempt: attempt, .pointless, code: 0),
                in: notification)
        case .refusedForNow(let code, let pause):
            guard attempt <= Self.pauses.count else {
                return giveUp(facts, attempt, code)
            }
            let wait = max(Self.pauses[attempt - 1], min(pause ?? 0, Self.longestPause))
            return Decision(
                NotificationEvent.deferred(
                    attempt: attempt, until: now.adding(seconds: wait), code: code),
                in: notification)
        case .refusedForGood(let code):
            return giveUp(facts, attempt, code)
        }
    }

    /// Mail is the fallback. An unconfirmed mailbox may be a stranger's.
    private func giveUp(_ facts: Facts, _ attempt: Int, _ code: Int) -> Decision {
        let (state, settings) = (facts.inRealm.thing.state, facts.inRealm.realm.state.settings)
        guard let content = state.content, let account = facts.account, account.isWelcome else {
            return Decision(
                NotificationEvent.failed(attempt: attempt, .pointless, code: code),
                in: notification)
        }
        guard settings[SettingCatalogue.mailsNotifications], account.mail(mail) != nil else {
            return Decision(
                NotificationEvent.failed(attempt: attempt, .notTaken, code: code),
                in: notification)
        }
        return Decision(
            NotificationEvent.mailed(
                attempt: attempt, mail: mail, account: account.stream, content),
            in: notification)
    }
}
