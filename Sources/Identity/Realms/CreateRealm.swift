public import EventSourcing
internal import JSON

/// Opens a new tenant with nothing in it.
public struct CreateRealm: Command {
    public var displayName: String

    public init(displayName: String) {
        self.displayName = displayName
    }

    public enum Rejection: Error, Equatable, Sendable {
        case alreadyExists
        case invalid(FieldFault)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<Realm> {
        try await streams.read(Realm.self, Realm.stream)
    }

    public func decide(_ realm: Versioned<Realm>) throws(Rejection) -> Decision {
        guard !realm.exists else { throw .alreadyExists }
        do {
            try SettingCatalogue.displayName.setting.check(.string(displayName))
        } catch {
            throw .invalid(FieldFault(SettingCatalogue.displayName.name, error))
        }
        return Decision(RealmEvent.created(displayName: displayName), in: Realm.stream)
    }
}
