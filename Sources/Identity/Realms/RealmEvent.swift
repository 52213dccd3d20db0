public import EventSourcing
public import JSON
public import Values

/// What happens to a realm as a whole.
public enum RealmEvent: Event {
    case created(displayName: String)
    /// By name of the setting; null where it was unset.
    case settingsChanged([String: JSON])
    case disabled
    case enabled

    public static let catalogue = [
        EventShape("realm.created", open: ["display_name"]),
        EventShape("realm.settings_changed", open: ["changes"]),
        EventShape("realm.disabled"),
        EventShape("realm.enabled"),
    ]

    public var name: String {
        switch self {
        case .created: "realm.created"
        case .settingsChanged: "realm.settings_changed"
        case .disabled: "realm.disabled"
        case .enabled: "realm.enabled"
        }
    }

    public var subject: UUID? { nil }

    public var fields: [String: JSON] {
        switch self {
        case .created(let displayName): ["display_name": .string(displayName)]
        case .settingsChanged(let changes): ["changes": .object(changes)]
        case .disabled, .enabled: [:]
        }
    }

    public init?(name: String, fields: [String: JSON]) {
        switch name {
        case "realm.created":
            guard let displayName = fields["display_name"]?.string else { return nil }
            self = .created(displayName: displayName)
        case "realm.settings_changed":
            guard let changes = fields["changes"]?.object else { return nil }
            self = .settingsChanged(changes)
        case "realm.disabled": self = .disabled
        case "realm.enabled": self = .enabled
        default: return nil
        }
    }
}
