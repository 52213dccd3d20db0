public import EventSourcing
public import Values

/// What became of a mail that something in the log asks for. Its stream is the id of what it brings:
/// of a one-time code, for one. Its text is stored nowhere: it is composed when it is sent.
public enum MailEvent: FormedEvent {
    /// It is about to be handed to a gateway: of messages, which are sent at most once.
    case begun(attempt: Int)
    /// A server took it: a message by this channel.
    case sent(attempt: Int, by: Channel? = nil)
    /// The mail is retried. The code is the server's, 0 where there was none to ask.
    case deferred(attempt: Int, until: Timestamp, code: Int, reason: MailFault? = nil)
    /// The mail is not retried automatically.
    case failed(attempt: Int, code: Int, reason: MailFault? = nil)
    /// An operator requeued it.
    case requeued
    /// The gateway says that the phone has the message.
    case delivered(Channel)
    /// The gateway took it, and says that the phone does not get it: in the gateway's code.
    case undelivered(Channel, code: String? = nil)

    package enum Form {
        package static let begun = EventForm(
            "mail.begun", .internal, .detail, "The message is handed to a gateway.", .attempt,
            make: MailEvent.begun)
        package static let sent = EventForm(
            "mail.sent", .internal, .detail, "The mail server accepted the mail.", .attempt,
            .optional(.usedChannel), make: MailEvent.sent)
        package static let deferred = EventForm(
            "mail.deferred", .internal, .detail, "The mail was not accepted and is tried again.",
            .attempt, .until, .smtpCode, .fault, make: MailEvent.deferred)
        package static let failed = EventForm(
            "mail.failed", .internal, .detail, "The mail was not accepted and is not tried again.",
            .attempt, .smtpCode, .fault, make: MailEvent.failed)
        package static let requeued = EventForm(
            "mail.requeued", .internal, .detail, "An operator requeued the mail.",
            make: { MailEvent.requeued })
        package static let delivered = EventForm(
            "mail.delivered", .audit, .object(.other),
            "The gateway says that the phone has the message.", .usedChannel,
            make: MailEvent.delivered)
        package static let undelivered = EventForm(
            "mail.undelivered", .audit, .object(.other),
            "The gateway says that the phone does not get the message.", .usedChannel,
            .optional(.text("gateway_code", "Why, in the gateway's code.")),
            make: MailEvent.undelivered)
    }

    public static let forms: EventForms<Self> = [
        Form.begun, Form.sent, Form.deferred, Form.failed, Form.requeued, Form.delivered,
        Form.undelivered,
    ]

    public var written: WrittenEvent {
        switch self {
        case .begun(let attempt): Form.begun(attempt)
        case .sent(let attempt, let channel): Form.sent(attempt, channel)
        case .deferred(let attempt, let until, let code, let reason):
            Form.deferred(attempt, until, code, reason)
        case .failed(let attempt, let code, let reason): Form.failed(attempt, code, reason)
        case .requeued: Form.requeued()
        case .delivered(let channel): Form.delivered(channel)
        case .undelivered(let channel, let code): Form.undelivered(channel, code)
        }
    }
}

extension Field<Int> {
    fileprivate static let smtpCode = number(
        "code", "What the mail server answered; 0 if it was not reached.")
}

extension Field<MailFault?> {
    fileprivate static let fault = optional(
        .choice("reason", "Fault for which the mail was not accepted."))
}

extension Field<Channel> {
    fileprivate static let usedChannel = choice("channel", "Channel of the message.")
}
