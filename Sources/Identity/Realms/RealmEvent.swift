public import EventSourcing
public import JSON
public import Values

/// What happens to a realm as a whole.
public enum RealmEvent: FormedEvent {
    case created(displayName: String)
    /// By name of the setting; null where it was unset.
    case settingsChanged(JSONObject)
    case disabled
    case enabled
    /// The key that sealed a subject's personal data is destroyed.
    case subjectErased(UUID)

    package enum Form {
        package static let created = EventForm(
            "realm.created", .audit, .administration(.created), "The realm was created.",
            .text("display_name", "Name shown to users."), make: RealmEvent.created)
        package static let settingsChanged = EventForm(
            "realm.settings_changed", .audit, .realmSettingsChanged,
            "Settings of the realm changed.",
            .object("changes", "New values by the names of the settings; null where unset."),
            make: RealmEvent.settingsChanged)
        package static let disabled = EventForm(
            "realm.disabled", .audit, .administration(.disabled), "The realm was disabled.",
            make: { RealmEvent.disabled })
        package static let enabled = EventForm(
            "realm.enabled", .audit, .administration(.enabled), "The realm was enabled again.",
            make: { RealmEvent.enabled })
        package static let subjectErased = EventForm(
            "realm.subject_erased", .services, .administration(.removed),
            "The key of a subject's personal data was destroyed.",
            .uuid("subject", "Subject whose key was destroyed."), make: RealmEvent.subjectErased)
    }

    public static let forms: EventForms<Self> = [
        Form.created, Form.settingsChanged, Form.disabled, Form.enabled, Form.subjectErased,
    ]

    public var written: WrittenEvent {
        switch self {
        case .created(let displayName): Form.created(displayName)
        case .settingsChanged(let changes): Form.settingsChanged(changes)
        case .disabled: Form.disabled()
        case .enabled: Form.enabled()
        case .subjectErased(let subject): Form.subjectErased(subject)
        }
    }
}
