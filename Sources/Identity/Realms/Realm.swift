public import EventSourcing
internal import JSON
public import Values

/// A tenant: its settings, and whether it is open.
public struct Realm: StreamState {
    public private(set) var isDisabled = false
    public private(set) var settings = Settings()
    /// Whose keys are destroyed, beside those of accounts and what was theirs.
    public private(set) var erased: Set<UUID> = []

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
        case .subjectErased(let subject): erased.insert(subject)
        }
    }
}

extension Realm {
    /// The realm, and the settings that hold in it or in one app of it.
    static func settings(
        of app: UUID?, from streams: some StreamReader
    ) async throws(LogFailure) -> (Versioned<Realm>, Settings) {
        let realm = try await streams.read(Realm.self, stream)
        guard let app else { return (realm, realm.state.settings) }
        let face = try await streams.read(App.self, app)
        guard face.isAlive else { return (realm, realm.state.settings) }
        return (realm, realm.state.settings.overlaid(by: face.state.settings))
    }
}
