public import EventSourcing
public import Values

/// What happens to a subscription. Its deliveries are no events, but for those that are given up.
public enum SubscriptionEvent: FormedEvent {
    case created(
        Subscription.Kind, SubscriptionTerms, secret: SubscriptionSecret?, startsAfter: Int64?,
        slot: Int? = nil)
    case changed(SubscriptionTerms)
    case paused
    case resumed(after: Int64?)
    /// The mail tells the realm's contact.
    case disabled(Subscription.DisableReason, position: Int64?, mail: UUID?)
    /// It waits at an event that cannot be sent, and goes on by itself once it can be.
    case halted(position: Int64, reason: String)
    /// Nothing has been taken for hours; the mail tells the realm's contact.
    case failing(since: Timestamp, mail: UUID?)
    case secretRotated(SubscriptionSecret?, oldEnds: Timestamp)
    /// And how many events that was, nil in records of earlier versions; and where the range goes on that was too long.
    case replayed(SubscriptionReplay, queued: Int64?, next: Int64? = nil)
    case tested(SubscriptionTest)
    case deleted
    case givenUp(GivenUpDelivery)

    package enum Form {
        package static let created = EventForm(
            "subscription.created", .audit, .administration(.created),
            "A subscription to the realm's events was created.",
            .choice("kind", "Kind of subscription."), .terms, .optional(.secret),
            .optional(
                .integer(
                    "starts_after",
                    "Position after which it starts; the event's own if it is missing.")),
            .optional(.number("slot", "Which of the realm's subscriptions of its kind it is.")),
            make: SubscriptionEvent.created)
        package static let changed = EventForm(
            "subscription.changed", .audit, .administration(.updated),
            "The subscription was changed.", .terms, make: SubscriptionEvent.changed)
        package static let paused = EventForm(
            "subscription.paused", .audit, .administration(.other), "The subscription was paused.",
            make: { SubscriptionEvent.paused })
        package static let resumed = EventForm(
            "subscription.resumed", .audit, .administration(.other),
            "The subscription was resumed.",
            .optional(
                .integer(
                    "starts_after",
                    "Position after which it goes on; where it stopped if it is missing.")),
            make: SubscriptionEvent.resumed)
        package static let disabled = EventForm(
            "subscription.disabled", .audit, .administration(.disabled),
            "Nothing is sent any more until the subscription is resumed.",
            .choice("reason", "Reason for which the subscription was disabled."),
            .optional(.integer("position", "Position of the event that it stopped at.")),
            .contactMail, make: SubscriptionEvent.disabled)
        package static let halted = EventForm(
            "subscription.halted", .audit, .administration(.other),
            "The subscription waits at an event that cannot be sent.",
            .integer("position", "Position of that event."),
            .text("reason", "Fault for which the event cannot be sent."),
            make: SubscriptionEvent.halted)
        package static let failing = EventForm(
            "subscription.failing", .audit, .administration(.other),
            "Nothing that was sent has been taken for hours.",
            .time("since", "Time of the first failure."), .contactMail,
            make: SubscriptionEvent.failing)
        package static let secretRotated = EventForm(
            "subscription.secret_rotated", .audit, .administration(.updated),
            "The subscription was given a new secret.", .optional(.secret),
            .time("old_ends", "Until when the old secret signs as well."),
            make: SubscriptionEvent.secretRotated)
        package static let replayed = EventForm(
            "subscription.replayed", .audit, .administration(.other),
            "Events were sent to the subscription again.", .replay,
            .optional(.integer("queued", "Number of queued events.")),
            .optional(
                .integer(
                    "next",
                    "Position that a longer range goes on from; nothing from it on was queued.")),
            make: SubscriptionEvent.replayed)
        package static let tested = EventForm(
            "subscription.tested", .audit, .administration(.other),
            "A test message was sent to the subscription.", .test, make: SubscriptionEvent.tested)
        package static let deleted = EventForm(
            "subscription.deleted", .audit, .administration(.removed),
            "The subscription was deleted.",
            make: { SubscriptionEvent.deleted })
        package static let givenUp = EventForm(
            "delivery.given_up", .audit, .object(.other),
            "An event could not be delivered to a subscription.", .delivery,
            make: SubscriptionEvent.givenUp)
    }

    public static let forms: EventForms<Self> = [
        Form.created, Form.changed, Form.paused, Form.resumed, Form.disabled, Form.halted,
        Form.failing, Form.secretRotated, Form.replayed, Form.tested, Form.deleted, Form.givenUp,
    ]

    /// Not personal data, but sealed like it: secrets are stored nowhere in plain text.
    public func subject(in stream: UUID) -> UUID? {
        switch self {
        case .created(.feed, _, _, _, _): nil
        case .changed(let terms): terms.url.isEmpty ? nil : stream
        case .created(.webhook, _, _, _, _), .secretRotated: stream
        case .paused, .resumed, .disabled, .halted, .failing, .replayed, .tested, .deleted,
            .givenUp:
            nil
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .created(let kind, let terms, let secret, let start, let slot):
            Form.created(kind, terms, secret, start, slot)
        case .changed(let terms): Form.changed(terms)
        case .paused: Form.paused()
        case .resumed(let start): Form.resumed(start)
        case .disabled(let reason, let position, let mail): Form.disabled(reason, position, mail)
        case .halted(let position, let reason): Form.halted(position, reason)
        case .failing(let since, let mail): Form.failing(since, mail)
        case .secretRotated(let secret, let ends): Form.secretRotated(secret, ends)
        case .replayed(let replay, let queued, let next): Form.replayed(replay, queued, next)
        case .tested(let test): Form.tested(test)
        case .deleted: Form.deleted()
        case .givenUp(let delivery): Form.givenUp(delivery)
        }
    }
}

extension Field<UUID?> {
    fileprivate static let contactMail = optional(
        .uuid("mail", "Mail that tells the realm's contact."))
}

extension Field<SubscriptionSecret> {
    fileprivate static let secret = mapped(
        .bytes("secret", "Secret that messages are signed with.", .neverLeaves(.sealed)),
        write: \.shared, read: { SubscriptionSecret(shared: $0) })
}
