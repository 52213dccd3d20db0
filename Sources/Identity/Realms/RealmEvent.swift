public import EventSourcing
public import JSON
public import Values

/// What happens to a realm as a whole.
public enum RealmEvent: Event {
    case created(displayName: String)
    /// By name of the setting; null where it was unset.
    case settingsChanged(JSONObject)
    case disabled
    case enabled
    /// The key that sealed a subject's personal data is destroyed.
    case subjectErased(UUID)

    public static let catalogue = [
        EventShape("realm.created", open: ["display_name"]),
        EventShape("realm.settings_changed", open: ["changes"]),
        EventShape("realm.disabled"),
        EventShape("realm.enabled"),
        EventShape("realm.subject_erased", open: ["subject"]),
    ]

    public var name: String {
        switch self {
        case .created: "realm.created"
        case .settingsChanged: "realm.settings_changed"
        case .disabled: "realm.disabled"
        case .enabled: "realm.enabled"
        case .subjectErased: "realm.subject_erased"
        }
    }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .created(let displayName): ["display_name": .string(displayName)]
        case .settingsChanged(let changes): ["changes": .object(changes)]
        case .disabled, .enabled: [:]
        case .subjectErased(let subject): ["subject": .string(subject.description)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "realm.created":
            guard let displayName = fields["display_name"]?.string else { return nil }
            self = .created(displayName: displayName)
        case "realm.settings_changed":
            guard let changes = fields["changes"]?.object else { return nil }
            self = .settingsChanged(changes)
        case "realm.disabled": self = .disabled
        case "realm.enabled": self = .enabled
        case "realm.subject_erased":
            guard let subject = fields["subject"]?.string.flatMap({ UUID($0) }) else { return nil }
            self = .subjectErased(subject)
        default: return nil
        }
    }
}
