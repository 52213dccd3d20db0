public import EventSourcing
public import JSON
public import Values

/// What happens to a web app or a konnector of a realm.
public enum WebAppEvent: Event {
    case registered(WebAppCard)
    /// All that is said of it from now on.
    case updated(WebAppCard)
    case removed

    public static let catalogue: [EventShape] = [
        EventShape(
            "web_app.registered", .audit, "A web app or konnector was registered.",
            WebAppCard.eventFields),
        EventShape(
            "web_app.updated", .audit, "The description of the web app was replaced.",
            WebAppCard.eventFields),
        EventShape("web_app.removed", .audit, "The web app was removed."),
    ]

    public var name: String {
        switch self {
        case .registered: "web_app.registered"
        case .updated: "web_app.updated"
        case .removed: "web_app.removed"
        }
    }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .registered(let card), .updated(let card): card.fields
        case .removed: [:]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "web_app.registered", "web_app.updated":
            guard let card = WebAppCard(recorded: fields) else { return nil }
            self = name == "web_app.updated" ? .updated(card) : .registered(card)
        case "web_app.removed": self = .removed
        default: return nil
        }
    }
}
