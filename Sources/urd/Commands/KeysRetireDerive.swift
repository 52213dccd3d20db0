import EventSourcing
import EventStore
import JSON

/// Destroys the keys that tokens, codes, links and secrets of a realm were derived from before.
struct KeysRetireDerive: Subcommand {
    static let path = ["keys", "retire-derive"]
    static let summary = "Retire a realm's old keys for tokens, codes, links and secrets"
    static let examples = ["urd keys retire-derive --realm demo"]
    static let details = """
        Ends at once what follows from the old keys: access and refresh tokens that were not refreshed \
        since `urd keys rotate-derive`, codes and links that were mailed before it, registration tokens, \
        trusted browsers, sign-ins that are under way. Browsers stay signed in.

        Client secrets, admin keys and invites that were made before stay good: rotate, revoke and make \
        those anew where the old key has leaked.
        """
    static let options = [
        RealmOption.option, Option.json,
    ]
    static let settings = Store.settings
    static let consequence = Consequence.destructive(
        "ends the tokens, codes and links that were made under the old keys, at once")

    func run(_ call: Invocation) async throws -> ExitCode {
        let named = try RealmOption(call)
        let realm = named.realm
        let store = try Store(call.settings())
        defer { store.close() }
        try await store.checkSchema()
        try await named.requireExists(in: store)
        let count = try await store.keyring.retireDeriveKeys(of: realm)
        guard count > 0 else {
            throw CommandFailure(
                "the realm has no derive key but the one in use",
                remedy: "Make a new one first: urd keys rotate-derive --realm \(realm)")
        }
        var table = Table("realm", "derive keys destroyed")
        table.add(realm.name, String(count))
        call.console.write(
            table,
            json: ["realm": .string(realm.name), "destroyed": .integer(Int64(count))],
            asJSON: call.arguments.has("json"))
        return .success
    }
}
