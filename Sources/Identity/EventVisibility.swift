public import EventSourcing
public import JSON

/// What of an event leaves Urd, and to whom: the catalogue decides, field by field. Each place where
/// events are shown asks here (docs/event-visibility.md).
public enum EventVisibility {
    /// The open fields of an event that its readers are shown: no digest, no wrapped key, and nothing that
    /// the catalogue does not know.
    public static func open(_ fields: JSONObject, of event: String) -> JSONObject {
        fields.filter { visibility(of: $0.key, in: event) == .open }
    }

    /// The opened personal fields that an administrator or the person is shown.
    public static func personal(
        _ fields: JSONObject, of event: String, to reader: EventField.Audience
    ) -> JSONObject {
        fields.filter { name, _ in
            guard case .personal(let audience)? = visibility(of: name, in: event) else {
                return false
            }
            return audience == .person || reader == .administrators
        }
    }

    private static func visibility(of field: String, in event: String) -> EventField.Visibility? {
        fields[event]?[field] ?? origin[field]
    }

    private static let origin = visibilities(EventField.origin)
    /// A field of an older revision is shown as that revision says.
    private static let fields: [String: [String: EventField.Visibility]] = Dictionary(
        EventCatalogue.all.map { ($0.name, visibilities($0.fields)) },
        uniquingKeysWith: { $0.merging($1) { $1 } })

    private static func visibilities(
        _ fields: [EventField]
    ) -> [String: EventField.Visibility] {
        Dictionary(fields.map { ($0.name, $0.visibility) }, uniquingKeysWith: { $1 })
    }
}

extension Recorded {
    /// The open fields that readers of the log are shown.
    public var shownFields: JSONObject { EventVisibility.open(open, of: name) }

    /// The opened personal fields that this reader is shown. Empty where they are sealed or gone.
    public func personalFields(for reader: EventField.Audience) -> JSONObject {
        guard case .opened(let fields) = personal else { return [:] }
        return EventVisibility.personal(fields, of: name, to: reader)
    }
}
