public import EventSourcing
public import JSON
public import Values

/// What happens to an app: a face of a realm with its own sub-domain and settings.
public enum AppEvent: Event {
    /// What changed; the rest stayed.
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

    private static let slug: EventField = .text("slug", "Short name of the app in its host name.")
    private static let name: EventField = .text("name", "Name shown to users.")

    public static let catalogue: [EventShape] = [
        EventShape("app.created", .audit, "An app of the realm was created.", [slug, name]),
        EventShape("app.deleted", .audit, "The app was deleted."),
        EventShape(
            "app.updated", .audit, "The app was changed.",
            [
                slug.optional, name.optional,
                .object(
                    "settings", "Settings that changed; null where the realm's value holds again."
                ).optional,
            ]),
    ]

    public var name: String {
        switch self {
        case .created: "app.created"
        case .updated: "app.updated"
        case .deleted: "app.deleted"
        }
    }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .created(let slug, let name): return ["slug": .string(slug), "name": .string(name)]
        case .updated(let change):
            var fields: JSONObject = [:]
            fields["slug"] = change.slug.map { .string($0) }
            fields["name"] = change.name.map { .string($0) }
            if !change.settings.isEmpty { fields["settings"] = .object(change.settings) }
            return fields
        case .deleted: return [:]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "app.created":
            guard let slug = fields["slug"]?.string, let name = fields["name"]?.string else {
                return nil
            }
            self = .created(slug: slug, name: name)
        case "app.updated":
            self = .updated(
                Change(
                    slug: fields["slug"]?.string, name: fields["name"]?.string,
                    settings: fields["settings"]?.object ?? [:]))
        case "app.deleted": self = .deleted
        default: return nil
        }
    }
}
