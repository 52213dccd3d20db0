import EventSourcing
import EventStore
import JSON

/// Gives a realm new keys: backups of single rows that hold destroyed keys become useless.
struct KeysRotateRealm: Subcommand {
    static let path = ["keys", "rotate-realm"]
    static let summary = "Give a realm a new wrapping key and wrap every subject's key anew"
    static let options = [
        Option.value("realm", "realm", "The realm; URD_REALM otherwise"), Option.json,
    ]
    static let settings = Store.settings
    static let consequence = Consequence.destructive(
        "gives the realm a new wrapping key: key rows of older backups can no longer be read")

    func run(_ call: Invocation) async throws -> ExitCode {
        guard
            let realm = (call.arguments.value("realm") ?? call.environment["URD_REALM"]).flatMap({
                RealmID($0)
            })
        else { throw UsageError("--realm is missing or is no realm") }
        let store = try Store(call.settings())
        defer { store.close() }
        try await store.checkSchema()
        guard try await store.log.head(of: realm).position > 0 else {
            throw CommandFailure("there is no realm '\(realm)'")
        }
        let count = try await store.keyring.rotate(realm)
        var table = Table("realm", "subject keys wrapped anew")
        table.add(realm.name, String(count))
        call.console.write(
            table, json: ["realm": .string(realm.name), "wrapped": .integer(Int64(count))],
            asJSON: call.arguments.has("json"))
        return .success
    }
}
