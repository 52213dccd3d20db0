public import EventSourcing
public import JSON
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
    /// What it says cannot be opened any more, or its reader is gone.
    case pointless
}

/// What happens to a notification, in the stream of its name.
public enum NotificationEvent: Event {
    case requested(NotificationTerms, NotificationContent?)
    /// These installations took it.
    case pushed(attempt: Int, NotificationRoute, [UUID])
    /// No device took it: it goes on as a mail of this name.
    case mailed(attempt: Int, mail: UUID, account: UUID, NotificationContent?)
    /// It is tried again. The code is what a provider answered last, 0 where none was reached.
    case deferred(attempt: Int, until: Timestamp, code: Int)
    case failed(attempt: Int, NotificationFailure, code: Int)
    case superseded(by: UUID)
    /// An operator requeued it.
    case requeued

    private static let code: EventField =
        .integer("code", "What the push provider answered; 0 if it was not reached.")

    public static let catalogue: [EventShape] = [
        EventShape(
            "notification.requested", .internal, "A notification to a person was requested.",
            NotificationTerms.eventFields, NotificationContent.mailedFields,
            NotificationContent.otherFields),
        EventShape(
            "notification.pushed", .internal, "Devices of the person took the notification.",
            [
                .attempt,
                .choice("route", NotificationRoute.self, "Kind of apps that took it."),
                .uuids("clients", "Installations that took it."),
            ]),
        EventShape(
            "notification.mailed", .internal,
            "No device took the notification, so it goes as a mail.",
            [
                .attempt, .account, .uuid("mail", "Mail that carries the notification."),
            ], NotificationContent.mailedFields),
        EventShape(
            "notification.deferred", .internal,
            "The notification was not delivered and is tried again.", [.attempt, .until, code]),
        EventShape(
            "notification.failed", .internal, "The notification was not delivered.",
            [
                .attempt,
                .choice("reason", NotificationFailure.self, "Why it was not delivered."),
                code,
            ]),
        EventShape(
            "notification.superseded", .internal,
            "A later notification took the place of this one.",
            [
                .uuid("by", "The later notification.")
            ]),
        EventShape("notification.requeued", .internal, "An operator requeued the notification."),
    ]

    public var name: String {
        switch self {
        case .requested: "notification.requested"
        case .pushed: "notification.pushed"
        case .mailed: "notification.mailed"
        case .deferred: "notification.deferred"
        case .failed: "notification.failed"
        case .superseded: "notification.superseded"
        case .requeued: "notification.requeued"
        }
    }

    public var subject: UUID? {
        switch self {
        case .requested(let terms, _): terms.account
        case .mailed(_, _, let account, _): account
        case .pushed, .deferred, .failed, .superseded, .requeued: nil
        }
    }

    public var fields: JSONObject {
        switch self {
        case .requested(let terms, let content):
            return terms.fields.merging(content?.fields ?? [:]) { open, _ in open }
        case .pushed(let attempt, let route, let clients):
            return [
                "attempt": .integer(Int64(attempt)), "route": .string(route.rawValue),
                "clients": .array(clients.map { .uuid($0) }),
            ]
        case .mailed(let attempt, let mail, let account, let content):
            let said = (content?.fields ?? [:]).filter { member in
                NotificationContent.mailedFields.contains { $0.name == member.key }
            }
            let fields: JSONObject = [
                "attempt": .integer(Int64(attempt)), "mail": .uuid(mail),
                "account": .uuid(account),
            ]
            return fields.merging(said) { open, _ in open }
        case .deferred(let attempt, let until, let code):
            return [
                "attempt": .integer(Int64(attempt)), "until": .integer(until.seconds),
                "code": .integer(Int64(code)),
            ]
        case .failed(let attempt, let reason, let code):
            return [
                "attempt": .integer(Int64(attempt)), "reason": .string(reason.rawValue),
                "code": .integer(Int64(code)),
            ]
        case .superseded(let by): return ["by": .uuid(by)]
        case .requeued: return [:]
        }
    }

    public init?(name: String, fields: JSONObject) {
        let attempt = fields["attempt"]?.integer.map { Int(clamping: $0) }
        let code = fields["code"]?.integer.map { Int(clamping: $0) }
        switch (name, attempt, code) {
        case ("notification.requested", _, _):
            guard let terms = NotificationTerms(fields: fields) else { return nil }
            self = .requested(terms, NotificationContent(fields: fields))
        case ("notification.pushed", let attempt?, _):
            guard let route: NotificationRoute = fields.choice("route"),
                let clients = fields.texts("clients")
            else { return nil }
            self = .pushed(attempt: attempt, route, clients.compactMap { UUID($0) })
        case ("notification.mailed", let attempt?, _):
            guard let mail = fields.uuid("mail"), let account = fields.uuid("account") else {
                return nil
            }
            self = .mailed(
                attempt: attempt, mail: mail, account: account,
                NotificationContent(fields: fields))
        case ("notification.deferred", let attempt?, let code?):
            guard let until = fields.instant("until") else { return nil }
            self = .deferred(attempt: attempt, until: until, code: code)
        case ("notification.failed", let attempt?, let code?):
            guard let reason: NotificationFailure = fields.choice("reason") else { return nil }
            self = .failed(attempt: attempt, reason, code: code)
        case ("notification.superseded", _, _):
            guard let by = fields.uuid("by") else { return nil }
            self = .superseded(by: by)
        case ("notification.requeued", _, _): self = .requeued
        default: return nil
        }
    }
}

/// What happens to what notifications are about. States are known by a keyed digest alone.
public enum NotificationSourceEvent: FormedEvent {
    case moved(to: UUID, state: SecretDigest)

    private enum Form {
        static let moved = EventForm(
            "notification_source.moved", .internal, "The topic of notifications has another state.",
            .uuid("notification", "Notification of the state."),
            .digest("state_digest", "Keyed digest of the state."),
            make: NotificationSourceEvent.moved)
    }

    public static let forms: [any EventReading<Self>] = [Form.moved]

    public var written: WrittenEvent {
        switch self {
        case .moved(let notification, let state): Form.moved(notification, state)
        }
    }
}
