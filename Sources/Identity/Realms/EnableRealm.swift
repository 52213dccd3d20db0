public import EventSourcing

/// Opens a disabled realm again, as it was.
public struct EnableRealm: Command {
    public init() {}

    public typealias Rejection = NotFound<Realm>

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<Realm> {
        try await streams.read(Realm.self, Realm.stream)
    }

    public func decide(_ realm: Versioned<Realm>) throws(Rejection) -> Decision {
        guard realm.exists else { throw .notFound }
        guard realm.state.isDisabled else { return Decision() }
        return Decision(RealmEvent.enabled, in: Realm.stream)
    }
}
