public import EventSourcing
public import JSON
public import Values

/// What became of a mail that something in the log asks for. Its stream is the id of what it brings:
/// of a one-time code, for one. What it says stands nowhere: it is made when it is sent.
public enum MailEvent: Event {
    /// It is about to be handed to a gateway: of messages, which are sent at most once.
    case begun(attempt: Int)
    /// A server took it: a message by this channel.
    case sent(attempt: Int, by: Channel? = nil)
    /// It is tried again. The code is the server's, 0 where there was none to ask.
    case deferred(attempt: Int, until: Timestamp, code: Int, reason: MailFault? = nil)
    /// It is not tried again by itself.
    case failed(attempt: Int, code: Int, reason: MailFault? = nil)
    /// An operator requeued it.
    case requeued
    /// The gateway says that the phone has the message.
    case delivered(Channel)
    /// The gateway took it, and says that the phone does not get it: in the gateway's code.
    case undelivered(Channel, code: String? = nil)

    private static let smtpCode: EventField =
        .integer("code", "What the mail server answered; 0 if it was not reached.")
    private static let fault: EventField =
        .choice("reason", MailFault.self, "Why it was not accepted.").optional

    private static let channel: EventField = .choice(
        "channel", Channel.self, "By what it went.")

    public static let catalogue: [EventShape] = [
        EventShape(
            "mail.begun", .internal, "The message is handed to a gateway.", [.attempt]),
        EventShape(
            "mail.sent", .internal, "The mail server accepted the mail.",
            [.attempt, channel.optional]),
        EventShape(
            "mail.deferred", .internal, "The mail was not accepted and is tried again.",
            [.attempt, .until, smtpCode, fault]),
        EventShape(
            "mail.failed", .internal, "The mail was not accepted and is not tried again.",
            [.attempt, smtpCode, fault]),
        EventShape("mail.requeued", .internal, "An operator requeued the mail."),
        EventShape(
            "mail.delivered", .audit, "The gateway says that the phone has the message.",
            [channel]),
        EventShape(
            "mail.undelivered", .audit, "The gateway says that the phone does not get the message.",
            [
                channel, .text("gateway_code", "Why, in the gateway's code.").optional,
            ]),
    ]

    public var name: String {
        switch self {
        case .begun: "mail.begun"
        case .sent: "mail.sent"
        case .deferred: "mail.deferred"
        case .failed: "mail.failed"
        case .requeued: "mail.requeued"
        case .delivered: "mail.delivered"
        case .undelivered: "mail.undelivered"
        }
    }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .begun(let attempt): ["attempt": .integer(Int64(attempt))]
        case .sent(let attempt, let channel): Self.fields(attempt, channel)
        case .deferred(let attempt, let until, let code, let reason):
            Self.fields(attempt, code, reason).merging(["until": .integer(until.seconds)]) { $1 }
        case .failed(let attempt, let code, let reason): Self.fields(attempt, code, reason)
        case .requeued: [:]
        case .delivered(let channel): ["channel": .string(channel.rawValue)]
        case .undelivered(let channel, let code):
            Self.fields(channel, code)
        }
    }

    private static func fields(_ attempt: Int, _ channel: Channel?) -> JSONObject {
        var fields: JSONObject = ["attempt": .integer(Int64(attempt))]
        fields["channel"] = channel.map { .string($0.rawValue) }
        return fields
    }

    private static func fields(_ channel: Channel, _ code: String?) -> JSONObject {
        var fields: JSONObject = ["channel": .string(channel.rawValue)]
        fields["gateway_code"] = code.map { .string($0) }
        return fields
    }

    private static func fields(_ attempt: Int, _ code: Int, _ reason: MailFault?) -> JSONObject {
        var fields: JSONObject = [
            "attempt": .integer(Int64(attempt)), "code": .integer(Int64(code)),
        ]
        fields["reason"] = reason.map { .string($0.rawValue) }
        return fields
    }

    public init?(name: String, fields: JSONObject) {
        let attempt = fields["attempt"]?.integer.map { Int(clamping: $0) }
        let code = fields["code"]?.integer.map { Int(clamping: $0) }
        let reason: MailFault? = fields.choice("reason")
        switch (name, attempt, code) {
        case ("mail.begun", let attempt?, _): self = .begun(attempt: attempt)
        case ("mail.sent", let attempt?, _):
            self = .sent(attempt: attempt, by: fields.choice("channel"))
        case ("mail.deferred", let attempt?, let code?):
            guard let until = fields.instant("until") else { return nil }
            self = .deferred(attempt: attempt, until: until, code: code, reason: reason)
        case ("mail.failed", let attempt?, let code?):
            self = .failed(attempt: attempt, code: code, reason: reason)
        case ("mail.requeued", _, _): self = .requeued
        case ("mail.delivered", _, _):
            guard let channel: Channel = fields.choice("channel") else { return nil }
            self = .delivered(channel)
        case ("mail.undelivered", _, _):
            guard let channel: Channel = fields.choice("channel") else { return nil }
            self = .undelivered(channel, code: fields["gateway_code"]?.string)
        default: return nil
        }
    }
}
