public import EventSourcing
public import Values

/// What became of a notice that the end of a session asks for. Its stream has the notice's name.
public enum LogoutNoticeEvent: FormedEvent {
    case delivered(attempt: Int)
    /// The notice is retried. The code is the status that the client answered; 0: it was not reached.
    case deferred(attempt: Int, until: Timestamp, code: Int)
    /// The notice is not retried.
    case failed(attempt: Int, code: Int)

    package enum Form {
        package static let delivered = EventForm(
            "logout_notice.delivered", .internal, .detail, "The client was told of the logout.",
            .attempt, make: LogoutNoticeEvent.delivered)
        package static let deferred = EventForm(
            "logout_notice.deferred", .internal, .detail,
            "The client was not reached and is tried again.", .attempt, .until, .status,
            make: LogoutNoticeEvent.deferred)
        package static let failed = EventForm(
            "logout_notice.failed", .internal, .detail, "The client was not told of the logout.",
            .attempt, .status, make: LogoutNoticeEvent.failed)
    }

    public static let forms: EventForms<Self> = [
        Form.delivered, Form.deferred, Form.failed,
    ]

    public var written: WrittenEvent {
        switch self {
        case .delivered(let attempt): Form.delivered(attempt)
        case .deferred(let attempt, let until, let code): Form.deferred(attempt, until, code)
        case .failed(let attempt, let code): Form.failed(attempt, code)
        }
    }
}

extension Field<Int> {
    fileprivate static let status = number(
        "code", "HTTP status that the client answered; 0 if it was not reached.")
}
