public import EventSourcing
internal import Values

/// What most commands look at: the realm that they act in and the one thing that they change.
/// That the realm is read, and so asserted, is what makes disabling a realm hold at once.
public struct InRealm<State: StreamState>: Sendable {
    public let realm: Versioned<Realm>
    public let thing: Versioned<State>

    static func read(
        _ stream: UUID, from streams: some StreamReader
    ) async throws(LogFailure) -> InRealm {
        InRealm(
            realm: try await streams.read(Realm.self, Realm.stream),
            thing: try await streams.read(State.self, stream))
    }
}

extension Versioned<Realm> {
    /// Nothing in a realm changes unless the realm is there and open.
    func requireOpen<Rejection: Error>(
        missing: Rejection, disabled: Rejection
    ) throws(Rejection) {
        guard exists else { throw missing }
        if state.isDisabled { throw disabled }
    }
}
