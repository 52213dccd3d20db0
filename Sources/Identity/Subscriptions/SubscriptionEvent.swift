public import EventSourcing
public import JSON
public import Values

/// What happens to a subscription. Its deliveries are no events, but for those that are given up.
public enum SubscriptionEvent: Event {
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

    private static let secretFields: [EventField] = [
        .bytes("secret", "Secret that messages are signed with.", .neverLeaves(.sealed)).optional
    ]

    private static let mailField: EventField =
        .uuid("mail", "Mail that tells the realm's contact.").optional

    public static let catalogue: [EventShape] = [
        EventShape(
            "subscription.created", .audit, "A subscription to the realm's events was created.",
            SubscriptionTerms.eventFields, secretFields,
            [
                .choice("kind", Subscription.Kind.self, "Which kind of subscription it is."),
                .integer(
                    "starts_after",
                    "Position after which it starts; the event's own if it is missing."
                ).optional,
                .integer("slot", "Which of the realm's subscriptions of its kind it is.").optional,
            ]),
        EventShape(
            "subscription.changed", .audit, "The subscription was changed.",
            SubscriptionTerms.eventFields),
        EventShape("subscription.paused", .audit, "The subscription was paused."),
        EventShape(
            "subscription.resumed", .audit, "The subscription was resumed.",
            [
                .integer(
                    "starts_after",
                    "Position after which it goes on; where it stopped if it is missing."
                ).optional
            ]),
        EventShape(
            "subscription.disabled", .audit,
            "Nothing is sent any more until the subscription is resumed.",
            [
                .choice("reason", Subscription.DisableReason.self, "Why it was disabled."),
                .integer("position", "Position of the event that it stopped at.").optional,
                mailField,
            ]),
        EventShape(
            "subscription.halted", .audit,
            "The subscription waits at an event that cannot be sent.",
            [
                .integer("position", "Position of that event."),
                .text("reason", "Why it cannot be sent."),
            ]),
        EventShape(
            "subscription.failing", .audit, "Nothing that was sent has been taken for hours.",
            [.time("since", "Since when."), mailField]),
        EventShape(
            "subscription.secret_rotated", .audit, "The subscription was given a new secret.",
            secretFields, [.time("old_ends", "Until when the old secret signs as well.")]),
        EventShape(
            "subscription.replayed", .audit, "Events were sent to the subscription again.",
            SubscriptionReplay.eventFields),
        EventShape(
            "subscription.tested", .audit, "A test message was sent to the subscription.",
            SubscriptionTest.eventFields),
        EventShape("subscription.deleted", .audit, "The subscription was deleted."),
        EventShape(
            "delivery.given_up", .audit, "An event could not be delivered to a subscription.",
            GivenUpDelivery.eventFields),
    ]

    public var name: String {
        switch self {
        case .created: "subscription.created"
        case .changed: "subscription.changed"
        case .paused: "subscription.paused"
        case .resumed: "subscription.resumed"
        case .disabled: "subscription.disabled"
        case .halted: "subscription.halted"
        case .failing: "subscription.failing"
        case .secretRotated: "subscription.secret_rotated"
        case .replayed: "subscription.replayed"
        case .tested: "subscription.tested"
        case .deleted: "subscription.deleted"
        case .givenUp: "delivery.given_up"
        }
    }

    public var subject: UUID? { nil }

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

    public var fields: JSONObject {
        switch self {
        case .created(let kind, let terms, let secret, let start, let slot):
            var fields = terms.fields
            fields["slot"] = slot.map { .integer(Int64($0)) }
            fields["kind"] = .string(kind.rawValue)
            fields["starts_after"] = start.map { .integer($0) }
            fields.set(secret)
            return fields
        case .changed(let terms): return terms.fields
        case .paused, .deleted: return [:]
        case .resumed(let start):
            var fields: JSONObject = [:]
            fields["starts_after"] = start.map { .integer($0) }
            return fields
        case .disabled(let reason, let position, let mail):
            var fields: JSONObject = ["reason": .string(reason.rawValue)]
            fields["position"] = position.map { .integer($0) }
            fields["mail"] = mail.map { .string($0.description) }
            return fields
        case .halted(let position, let reason):
            return ["position": .integer(position), "reason": .string(reason)]
        case .failing(let since, let mail):
            var fields: JSONObject = ["since": .integer(since.seconds)]
            fields["mail"] = mail.map { .string($0.description) }
            return fields
        case .secretRotated(let secret, let ends):
            var fields: JSONObject = ["old_ends": .integer(ends.seconds)]
            fields.set(secret)
            return fields
        case .replayed(let replay, let queued, let next):
            var fields = replay.fields
            fields["queued"] = queued.map { .integer($0) }
            fields["next"] = next.map { .integer($0) }
            return fields
        case .tested(let test): return test.fields
        case .givenUp(let delivery): return delivery.fields
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "subscription.created":
            guard let kind: Subscription.Kind = fields.choice("kind"),
                let terms = SubscriptionTerms(fields)
            else { return nil }
            self = .created(
                kind, terms, secret: fields.subscriptionSecret,
                startsAfter: fields["starts_after"]?.integer,
                slot: fields["slot"]?.integer.map { Int(clamping: $0) })
        case "subscription.changed":
            guard let terms = SubscriptionTerms(fields) else { return nil }
            self = .changed(terms)
        case "subscription.paused": self = .paused
        case "subscription.resumed": self = .resumed(after: fields["starts_after"]?.integer)
        case "subscription.disabled":
            guard let reason: Subscription.DisableReason = fields.choice("reason") else {
                return nil
            }
            self = .disabled(
                reason, position: fields["position"]?.integer, mail: fields.uuid("mail"))
        case "subscription.halted":
            guard let position = fields["position"]?.integer, let reason = fields["reason"]?.string
            else { return nil }
            self = .halted(position: position, reason: reason)
        case "subscription.failing":
            guard let since = fields.instant("since") else { return nil }
            self = .failing(since: since, mail: fields.uuid("mail"))
        case "subscription.secret_rotated":
            guard let ends = fields.instant("old_ends") else { return nil }
            self = .secretRotated(fields.subscriptionSecret, oldEnds: ends)
        case "subscription.replayed":
            guard let replay = SubscriptionReplay(fields) else { return nil }
            self = .replayed(
                replay, queued: fields["queued"]?.integer, next: fields["next"]?.integer)
        case "subscription.tested":
            guard let test = SubscriptionTest(fields) else { return nil }
            self = .tested(test)
        case "subscription.deleted": self = .deleted
        case "delivery.given_up":
            guard let delivery = GivenUpDelivery(fields) else { return nil }
            self = .givenUp(delivery)
        default: return nil
        }
    }
}

extension JSONObject {
    fileprivate mutating func set(_ secret: SubscriptionSecret?) {
        self["secret"] = secret.map { .string(Base64URL.encode($0.shared)) }
    }

    fileprivate var subscriptionSecret: SubscriptionSecret? {
        self["secret"]?.string.flatMap { Base64URL.decode($0) }
            .flatMap { SubscriptionSecret(shared: $0) }
    }
}
