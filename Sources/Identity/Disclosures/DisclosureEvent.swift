public import EventSourcing
public import JSON
public import Values

/// The kind of sealed data that was disclosed.
public enum DisclosureKind: String, CaseIterable, Sendable {
    case person
    case loginHistory = "login_history"
    /// All that was sealed in events; the subjects that they name are the people.
    case events
}

/// Personal data that is sent to a subscription: of some events, in one batch.
public struct StreamedBatch: Sendable, Equatable {
    public var subscription: UUID
    /// The first and the last position whose event is opened.
    public var positions: ClosedRange<Int64>
    /// Whose it is, each once.
    public var subjects: [UUID]

    public init(subscription: UUID, positions: ClosedRange<Int64>, subjects: [UUID]) {
        self.subscription = subscription
        self.positions = positions
        self.subjects = subjects
    }
}

/// That sealed data was disclosed. The event's actor is the one it was shown to, or Urd where it is sent.
public enum DisclosureEvent: Event {
    /// The reason is the one that the asker gave, where one had to be given.
    case made(DisclosureKind, accounts: [UUID], reason: String? = nil)
    case streamed(StreamedBatch)

    public static let catalogue: [EventShape] = [
        EventShape(
            "personal_data.opened", .audit, "Sealed personal data was disclosed to the actor.",
            [
                .choice("kind", DisclosureKind.self, "Kind of data that was disclosed."),
                .uuids("accounts", "Accounts or other subjects whose data was disclosed."),
                .text("reason", "What the actor said it was for.").optional,
            ]),
        EventShape(
            "personal_data.streamed", .audit, "Sealed personal data is sent to a subscription.",
            [
                .uuid("subscription", "Subscription that it is sent to."),
                .integer("from", "Position of the first event that is opened."),
                .integer("to", "Position of the last one."),
                .uuids("subjects", "Accounts or other subjects whose data is sent."),
            ]),
    ]

    public var name: String {
        switch self {
        case .made: "personal_data.opened"
        case .streamed: "personal_data.streamed"
        }
    }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .made(let kind, let accounts, let reason):
            var fields: JSONObject = [
                "kind": .string(kind.rawValue), "accounts": .texts(accounts.map(\.description)),
            ]
            fields["reason"] = reason.map { .string($0) }
            return fields
        case .streamed(let batch):
            return [
                "subscription": .string(batch.subscription.description),
                "from": .integer(batch.positions.lowerBound),
                "to": .integer(batch.positions.upperBound),
                "subjects": .texts(batch.subjects.map(\.description)),
            ]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "personal_data.opened":
            guard let kind: DisclosureKind = fields.choice("kind"),
                let accounts = fields.texts("accounts")
            else { return nil }
            self = .made(
                kind, accounts: accounts.compactMap { UUID($0) }, reason: fields["reason"]?.string)
        case "personal_data.streamed":
            guard let subscription = fields.uuid("subscription"),
                let from = fields["from"]?.integer, let to = fields["to"]?.integer, from <= to,
                let subjects = fields.texts("subjects")
            else { return nil }
            self = .streamed(
                StreamedBatch(
                    subscription: subscription, positions: from...to,
                    subjects: subjects.compactMap { UUID($0) }))
        default: return nil
        }
    }
}

/// Each disclosure is a stream of its own: none waits for another.
public struct Disclosure: StreamState {
    public init() {}

    public mutating func apply(_ event: DisclosureEvent) {}
}
