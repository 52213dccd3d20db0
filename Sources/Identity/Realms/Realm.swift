public import EventSourcing
internal import JSON
public import Values

/// A tenant: its settings, and whether it is open.
public struct Realm: StreamState {
    public private(set) var isDisabled = false
    public private(set) var settings = Settings()

    /// The realm's own stream has the same name in every realm, so that it needs no look-up.
    public static let stream = UUID(high: 0x7572_6400_0000_8000, low: 0x8000_0000_0000_0001)

    public init() {}

    public mutating func apply(_ event: RealmEvent) {
        switch event {
        case .created(let displayName):
            settings.apply([SettingCatalogue.displayName.name: .string(displayName)])
        case .settingsChanged(let changes): settings.apply(changes)
        case .disabled: isDisabled = true
        case .enabled: isDisabled = false
        case .subjectErased: break
        }
    }
}
