public import EventSourcing
public import JSON

/// What of an event leaves Urd, and to whom: the catalogue decides, field by field. Each place where
/// events are shown asks here (docs/event-visibility.md).
public struct EventVisibility: Sendable {
    private let fields: [(name: String, visibility: EventField.Visibility)]

    private init(_ fields: [EventField]) {
        var latest: [String: EventField.Visibility] = [:]
        for field in fields { latest[field.name] = field.visibility }
        self.fields = latest.map { ($0.key, $0.value) }
    }

    /// Of the fields of a type of event. One that the catalogue does not know has none of its own.
    public static func of(_ event: String) -> EventVisibility { known[event] ?? unknown }

    /// Whether readers of the log are shown the field: no digest, no wrapped key, and nothing that
    /// the catalogue does not know.
    public func isOpen(_ field: String) -> Bool { self[field] == .open }

    /// Whether it is a personal field that an administrator or the person is shown.
    public func isPersonal(_ field: String, to reader: EventField.Audience) -> Bool {
        guard case .personal(let audience)? = self[field] else { return false }
        return audience == .person || reader == .administrators
    }

    /// Of open fields those that readers of the log are shown.
    public static func open(_ fields: JSONObject, of event: String) -> JSONObject {
        let visibility = of(event)
        return fields.filter { visibility.isOpen($0.key) }
    }

    /// Of opened personal fields those that an administrator or the person is shown.
    public static func personal(
        _ fields: JSONObject, of event: String, to reader: EventField.Audience
    ) -> JSONObject {
        let visibility = of(event)
        return fields.filter { visibility.isPersonal($0.key, to: reader) }
    }

    // They are few: one is found sooner than its hash is made.
    private subscript(field: String) -> EventField.Visibility? {
        for candidate in fields where candidate.name == field { return candidate.visibility }
        return nil
    }

    private static let unknown = EventVisibility(EventField.origin)
    /// A field of an older revision is shown as that revision says.
    private static let known: [String: EventVisibility] = Dictionary(
        grouping: EventCatalogue.all, by: \.name
    ).mapValues { EventVisibility(EventField.origin + $0.flatMap(\.fields)) }
}

extension Recorded {
    /// The open fields that readers of the log are shown.
    public var shownFields: JSONObject { EventVisibility.open(open, of: name) }

    /// The opened personal fields that this reader is shown. Empty where the personal fields are sealed or erased.
    public func personalFields(for reader: EventField.Audience) -> JSONObject {
        guard case .opened(let fields) = personal else { return [:] }
        return EventVisibility.personal(fields, of: name, to: reader)
    }
}
