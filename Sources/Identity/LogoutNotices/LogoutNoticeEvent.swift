public import EventSourcing
public import JSON
public import Values

/// What became of a notice that the end of a session asks for. Its stream has the notice's name.
public enum LogoutNoticeEvent: Event {
    case delivered(attempt: Int)
    /// It is tried again. The code is the status that the client answered; 0: it was not reached.
    case deferred(attempt: Int, until: Timestamp, code: Int)
    /// It is not tried again.
    case failed(attempt: Int, code: Int)

    private static let status: EventField =
        .integer("code", "HTTP status that the client answered; 0 if it was not reached.")

    public static let catalogue: [EventShape] = [
        EventShape(
            "logout_notice.delivered", .internal, "The client was told of the logout.", [.attempt]),
        EventShape(
            "logout_notice.deferred", .internal, "The client was not reached and is tried again.",
            [.attempt, .until, status]),
        EventShape(
            "logout_notice.failed", .internal, "The client was not told of the logout.",
            [.attempt, status]),
    ]

    public var name: String {
        switch self {
        case .delivered: "logout_notice.delivered"
        case .deferred: "logout_notice.deferred"
        case .failed: "logout_notice.failed"
        }
    }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .delivered(let attempt): ["attempt": .integer(Int64(attempt))]
        case .deferred(let attempt, let until, let code):
            [
                "attempt": .integer(Int64(attempt)), "until": .integer(until.seconds),
                "code": .integer(Int64(code)),
            ]
        case .failed(let attempt, let code):
            ["attempt": .integer(Int64(attempt)), "code": .integer(Int64(code))]
        }
    }

    public init?(name: String, fields: JSONObject) {
        let code = fields["code"]?.integer.map { Int(clamping: $0) }
        guard let attempt = fields["attempt"]?.integer.map({ Int(clamping: $0) }) else {
            return nil
        }
        switch (name, code) {
        case ("logout_notice.delivered", _): self = .delivered(attempt: attempt)
        case ("logout_notice.deferred", let code?):
            guard let until = fields.instant("until") else { return nil }
            self = .deferred(attempt: attempt, until: until, code: code)
        case ("logout_notice.failed", let code?): self = .failed(attempt: attempt, code: code)
        default: return nil
        }
    }
}
