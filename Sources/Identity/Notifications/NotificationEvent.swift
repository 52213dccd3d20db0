public import EventSourcing
public import Values

/// On which devices a notification was shown.
public enum NotificationRoute: String, Sendable, CaseIterable {
    /// In apps of their own.
    case dedicated
    /// In the one app that has everything.
    case flagship
}

/// Why a notification was not delivered.
public enum NotificationFailure: String, Sendable, CaseIterable {
    /// No device took it, and mails are not wanted.
    case notTaken = "not_taken"
    /// The content cannot be decrypted any more, or the recipient is gone.
    case pointless
}

/// What happens to a notification, in the stream of its name.
public enum NotificationEvent: FormedEvent {
    case requested(NotificationTerms, NotificationContent?)
    /// These installations took it.
    case pushed(attempt: Int, NotificationRoute, [UUID])
    /// No device took it: it goes on as a mail of this name.
    case mailed(attempt: Int, mail: UUID, account: UUID, NotificationContent?)
    /// The notification is retried. The code is what a provider answered last, 0 where none was reached.
    case deferred(attempt: Int, until: Timestamp, code: Int)
    case failed(attempt: Int, NotificationFailure, code: Int)
    case superseded(by: UUID)
    /// An operator requeued it.
    case requeued

    package enum Form {
        package static let requested = EventForm(
            "notification.requested", .internal, .detail,
            "A notification to a person was requested.", .terms, .optional(.content),
            make: NotificationEvent.requested)
        package static let pushed = EventForm(
            "notification.pushed", .internal, .detail,
            "Devices of the person took the notification.", .attempt,
            .choice("route", "Kind of apps that took it."),
            .uuids("clients", "Installations that took it."), make: NotificationEvent.pushed)
        package static let mailed = EventForm(
            "notification.mailed", .internal, .detail,
            "No device took the notification, so it goes as a mail.", .attempt,
            .uuid("mail", "Mail that carries the notification."), .account, .optional(.mailed),
            make: NotificationEvent.mailed)
        package static let deferred = EventForm(
            "notification.deferred", .internal, .detail,
            "The notification was not delivered and is tried again.", .attempt, .until, .pushCode,
            make: NotificationEvent.deferred)
        package static let failed = EventForm(
            "notification.failed", .internal, .detail, "The notification was not delivered.",
            .attempt, .choice("reason", "Fault for which the notification was not delivered."),
            .pushCode, make: NotificationEvent.failed)
        package static let superseded = EventForm(
            "notification.superseded", .internal, .detail,
            "A later notification took the place of this one.",
            .uuid("by", "The later notification."), make: NotificationEvent.superseded)
        package static let requeued = EventForm(
            "notification.requeued", .internal, .detail, "An operator requeued the notification.",
            make: { NotificationEvent.requeued })
    }

    public static let forms: EventForms<Self> = [
        Form.requested, Form.pushed, Form.mailed, Form.deferred, Form.failed, Form.superseded,
        Form.requeued,
    ]

    public var subject: UUID? {
        switch self {
        case .requested(let terms, _): terms.account
        case .mailed(_, _, let account, _): account
        case .pushed, .deferred, .failed, .superseded, .requeued: nil
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .requested(let terms, let content): Form.requested(terms, content)
        case .pushed(let attempt, let route, let clients): Form.pushed(attempt, route, clients)
        case .mailed(let attempt, let mail, let account, let content):
            Form.mailed(attempt, mail, account, content)
        case .deferred(let attempt, let until, let code): Form.deferred(attempt, until, code)
        case .failed(let attempt, let reason, let code): Form.failed(attempt, reason, code)
        case .superseded(let by): Form.superseded(by)
        case .requeued: Form.requeued()
        }
    }
}

extension Field<Int> {
    fileprivate static let pushCode = number(
        "code", "What the push provider answered; 0 if it was not reached.")
}

/// What happens to what notifications are about. States are known by a keyed digest alone.
public enum NotificationSourceEvent: FormedEvent {
    case moved(to: UUID, state: SecretDigest)

    package enum Form {
        package static let moved = EventForm(
            "notification_source.moved", .internal, .detail,
            "The topic of notifications has another state.",
            .uuid("notification", "Notification of the state."),
            .digest("state_digest", "Keyed digest of the state."),
            make: NotificationSourceEvent.moved)
    }

    public static let forms: EventForms<Self> = [Form.moved]

    public var written: WrittenEvent {
        switch self {
        case .moved(let notification, let state): Form.moved(notification, state)
        }
    }
}
