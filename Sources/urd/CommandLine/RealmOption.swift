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
}
