public import EventSourcing

/// Closes a realm: all sign-ins and changes are refused until it is enabled again.
public struct DisableRealm: Command {
    public init() {}

    public typealias Rejection = NotFound<Realm>

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<Realm> {
        try await streams.read(Realm.self, Realm.stream)
    }

    public func decide(_ realm: Versioned<Realm>) throws(Rejection) -> Decision {
        guard realm.exists else { throw .notFound }
        guard !realm.state.isDisabled else { return Decision() }
        return Decision(RealmEvent.disabled, in: Realm.stream)
    }
}
