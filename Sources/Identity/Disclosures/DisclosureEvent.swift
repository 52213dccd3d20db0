public import EventSourcing
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
    /// The subjects whose data is disclosed, each once.
    public var subjects: [UUID]

    public init(subscription: UUID, positions: ClosedRange<Int64>, subjects: [UUID]) {
        self.subscription = subscription
        self.positions = positions
        self.subjects = subjects
    }
}

/// That sealed data was disclosed. The event's actor is the one it was shown to, or Urd where it is sent.
public enum DisclosureEvent: FormedEvent {
    /// The reason is the one that the asker gave, where one had to be given.
    case made(DisclosureKind, accounts: [UUID], reason: String? = nil)
    case streamed(StreamedBatch)

    package enum Form {
        package static let made = EventForm(
            "personal_data.opened", .audit, .disclosed,
            "Sealed personal data was disclosed to the actor.",
            .choice("kind", "Kind of data that was disclosed."),
            .uuids("accounts", "Accounts or other subjects whose data was disclosed."),
            .optional(.text("reason", "Reason that the actor gave.")), make: DisclosureEvent.made)
        package static let streamed = EventForm(
            "personal_data.streamed", .audit, .object(.other),
            "Sealed personal data is sent to a subscription.", .batch,
            make: DisclosureEvent.streamed)
    }

    public static let forms: EventForms<Self> = [Form.made, Form.streamed]

    public var written: WrittenEvent {
        switch self {
        case .made(let kind, let accounts, let reason): Form.made(kind, accounts, reason)
        case .streamed(let batch): Form.streamed(batch)
        }
    }
}

extension Field<StreamedBatch> {
    fileprivate static let batch = record(
        .uuid("subscription", "Subscription that it is sent to."), .opened,
        .uuids("subjects", "Accounts or other subjects whose data is sent."),
        make: { StreamedBatch(subscription: $0, positions: $1, subjects: $2) },
        take: { ($0.subscription, $0.positions, $0.subjects) })
}

extension Field<ClosedRange<Int64>> {
    fileprivate static let opened = mapped(
        .integer("from", "Position of the first event that is opened."),
        .integer("to", "Position of the last event that is opened."),
        write: { ($0.lowerBound, $0.upperBound) }, read: { $0 <= $1 ? $0...$1 : nil })
}

/// Each disclosure is a stream of its own: none waits for another.
public struct Disclosure: StreamState {
    public init() {}

    public mutating func apply(_ event: DisclosureEvent) {}
}
