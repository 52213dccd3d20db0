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

    public static let catalogue: [EventShape] = [
        EventShape(
            "realm.created", .audit, "The realm was created.",
            [
                .text("display_name", "Name shown to users.")
            ]),
        EventShape(
            "realm.settings_changed", .audit, "Settings of the realm changed.",
            [
                .object("changes", "New values by the names of the settings; null where unset.")
            ]),
        EventShape("realm.disabled", .audit, "The realm was disabled."),
        EventShape("realm.enabled", .audit, "The realm was enabled again."),
        EventShape(
            "realm.subject_erased", .services,
            "The key of a subject's personal data was destroyed.",
            [
                .uuid("subject", "Subject whose key was destroyed.")
            ]),
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
