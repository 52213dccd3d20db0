import EventSourcing
import EventStore
import JSON

/// Gives a realm new keys: backups of single rows that hold destroyed keys become useless.
struct KeysRotateRealm: Subcommand {
    static let path = ["keys", "rotate-realm"]
    static let summary = "Give a realm a new wrapping key and wrap every subject's key anew"
    static let examples = ["urd keys rotate-realm --realm demo"]
    static let options = [
        RealmOption.option, Option.json,
    ]
    static let settings = Store.settings
    static let consequence = Consequence.destructive(
        "gives the realm a new wrapping key: key rows of older backups can no longer be read")

    func run(_ call: Invocation) async throws -> ExitCode {
        let named = try RealmOption(call)
        let realm = named.realm
        let store = try Store(call.settings())
        defer { store.close() }
        try await store.checkSchema()
        try await named.requireExists(in: store)
        let count = try await store.keyring.rotate(realm)
        var table = Table("realm", "subject keys wrapped anew")
        table.add(realm.name, String(count))
        call.console.write(
            table, json: ["realm": .string(realm.name), "wrapped": .integer(Int64(count))],
            asJSON: call.arguments.has("json"))
        return .success
    }
}
