public import EventSourcing
public import JSON

/// Changes some of a realm's settings and leaves the others as they are.
public struct SetRealmSettings: Command {
    /// By name; null returns a setting to its default.
    public var changes: JSONObject

    public init(_ changes: JSONObject) {
        self.changes = changes
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case disabled
        case invalid(FieldFault)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<Realm> {
        try await streams.read(Realm.self, Realm.stream)
    }

    public func decide(_ realm: Versioned<Realm>) throws(Rejection) -> Decision {
        guard realm.exists else { throw .notFound }
        guard !realm.state.isDisabled else { throw .disabled }
        let effective: JSONObject
        do {
            effective = try realm.state.settings.effective(changes, perApp: false)
        } catch {
            throw .invalid(error)
        }
        guard !effective.isEmpty else { return Decision() }
        return Decision(RealmEvent.settingsChanged(effective), in: Realm.stream)
    }
}
