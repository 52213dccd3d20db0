import EventSourcing
import EventStore
import Values

/// The realm that `--realm` or URD_REALM names, for commands that are no routes.
struct RealmOption: Sendable {
    static let option = Option.value("realm", "realm", "The realm; URD_REALM otherwise")

    let realm: RealmID

    init(_ call: Invocation) throws(UsageError) {
        guard let name = call.arguments.value("realm") ?? call.environment["URD_REALM"] else {
            throw UsageError("--realm is missing: the realm is neither given nor in URD_REALM")
        }
        realm = try Self.parse(name)
    }

    static func parse(_ name: String) throws(UsageError) -> RealmID {
        guard let realm = RealmID(name) else {
            throw UsageError("--realm '\(name)' cannot be the name of a realm")
        }
        return realm
    }

    /// The position of the realm's last event; a realm without events does not exist.
    @discardableResult
    func requireExists(in store: Store, remedy: String? = nil) async throws -> Int64 {
        let head = try await store.log.head(of: realm).position
        guard head > 0 else { throw try await Self.missing(realm.name, in: store, remedy: remedy) }
        return head
    }

    static func missing(
        _ name: String, in store: Store, remedy: String? = nil
    ) async throws -> CommandFailure {
        let known = try await store.log.realms().map(\.name)
        return .missing(
            "realm", name, among: known, remedy: remedy ?? "`urd realm list` names them.")
    }
}

extension CommandFailure {
    /// There is nothing of this name; `known` are the names that there are.
    static func missing(
        _ noun: String, _ name: String, among known: [String], remedy: String? = nil
    ) -> CommandFailure {
        CommandFailure(
            "There is no \(noun) '\(name)'." + NearestName.question(for: name, among: known),
            remedy: remedy)
    }
}
