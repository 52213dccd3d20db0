public import EventSourcing
package import Values

/// What most commands look at: the realm that they act in and the one thing that they change.
/// That the realm is read, and so asserted, is what makes disabling a realm hold at once.
public struct InRealm<State: StreamState>: RealmFacts, StreamFacts {
    public let realm: Versioned<Realm>
    public let thing: Versioned<State>

    package static func read(
        _ stream: UUID, isNew: Bool = false, from streams: some StreamReader
    ) async throws(LogFailure) -> InRealm {
        InRealm(
            realm: try await streams.read(Realm.self, Realm.stream),
            thing: try await .read(stream, isNew: isNew, from: streams))
    }
}

/// What a command looks at that changes something in a realm: it is decided only where the realm
/// exists and is open. A command that must run in a disabled realm has facts of another type.
public protocol RealmFacts: Sendable {
    var realm: Versioned<Realm> { get }
}

extension RealmFacts {
    /// Inlined into each command: two loads, and no copy of the realm.
    @inline(__always)
    package func requireRealm() throws(RealmRejection) {
        let realm = realm
        guard realm.exists else { throw .realmNotFound }
        if realm.state.isDisabled { throw .realmDisabled }
    }
}

extension Command where Facts: RealmFacts {
    @inline(__always)
    public func requireRealm(_ facts: Facts) throws(RealmRejection) {
        try facts.requireRealm()
    }
}

/// The only reason why the domain refuses many commands: what they are about does not exist.
public enum NotFound<Thing: StreamState>: Error, Equatable, Sendable {
    case notFound
}
