public import EventSourcing
public import JSON

/// What happens to an app: a face of a realm with its own sub-domain and settings.
public enum AppEvent: FormedEvent {
    /// The changed fields; nil for an unchanged one.
    public struct Change: Equatable, Sendable {
        public var slug: String?
        public var name: String?
        /// Null: the realm's value holds again.
        public var settings: JSONObject

        public init(slug: String? = nil, name: String? = nil, settings: JSONObject = [:]) {
            self.slug = slug
            self.name = name
            self.settings = settings
        }
    }

    case created(slug: String, name: String)
    case updated(Change)
    case deleted

    package enum Form {
        package static let created = EventForm(
            "app.created", .audit, .administration(.created), "An app of the realm was created.",
            .slug, .label, make: AppEvent.created)
        package static let updated = EventForm(
            "app.updated", .audit, .administration(.updated), "The app was changed.", .change,
            make: AppEvent.updated)
        package static let deleted = EventForm(
            "app.deleted", .audit, .administration(.removed), "The app was deleted.",
            make: { AppEvent.deleted })
    }

    public static let forms: EventForms<Self> = [Form.created, Form.deleted, Form.updated]

    public var written: WrittenEvent {
        switch self {
        case .created(let slug, let name): Form.created(slug, name)
        case .updated(let change): Form.updated(change)
        case .deleted: Form.deleted()
        }
    }
}

extension Field<String> {
    fileprivate static let slug = text("slug", "Short name of the app in its host name.")
    fileprivate static let label = text("name", "Name shown to users.")
}

extension Field<AppEvent.Change> {
    fileprivate static let change = record(
        .optional(.slug), .optional(.label),
        .unless(
            JSONObject(),
            .object("settings", "Settings that changed; null where the realm's value holds again.")),
        make: { Value(slug: $0, name: $1, settings: $2) }, take: { ($0.slug, $0.name, $0.settings) }
    )
}
