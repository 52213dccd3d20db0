import EventSourcing
import EventStore
import JSON

/// Replaces the key that a realm's tokens, codes, links and secrets are derived from.
struct KeysRotateDerive: Subcommand {
    static let path = ["keys", "rotate-derive"]
    static let summary = "Give a realm a new key for tokens, codes, links and secrets"
    static let examples = ["urd keys rotate-derive --realm demo"]
    static let details = """
        What is made from now on is made under the new key. What was made under the old one is accepted \
        until `urd keys retire-derive` destroys that: no user is signed out before. Names, such as `sub`, \
        stay as they are.

        Run it when every node has this version of Urd. Between announcing the key and using it, it waits \
        until all nodes know it. Run it again if it was interrupted.
        """
    static let options = [
        RealmOption.option, Option.json,
    ]
    static let settings = Store.settings
    static let consequence = Consequence.destructive(
        "makes a new key: nodes of older versions of Urd refuse what is made under it")

    /// Fifty times as long as a node takes to look at the database again.
    private static let patience = Duration.seconds(5)

    func run(_ call: Invocation) async throws -> ExitCode {
        let named = try RealmOption(call)
        let realm = named.realm
        let store = try Store(call.settings())
        defer { store.close() }
        try await store.checkSchema()
        try await named.requireExists(in: store)
        switch try await store.keyring.announceDeriveKey(of: realm) {
        case .announced: break
        case .waiting: call.console.complain("Going on with the rotation that was interrupted.")
        case .full:
            throw CommandFailure(
                "the realm has as many derive keys as it may have",
                remedy: "Destroy the old ones: urd keys retire-derive --realm \(realm)")
        }
        call.console.complain("The new key is announced; it is used in five seconds.")
        try await Task.sleep(for: Self.patience)
        guard try await store.keyring.adoptDeriveKey(of: realm) else {
            throw CommandFailure("another rotation was faster; nothing is left to do")
        }
        // Until a node has looked at the database again, it makes its secrets under the old key.
        try await Task.sleep(for: .seconds(1))
        let count = try await store.keyring.keys(of: realm).deriveVersions
        var table = Table("realm", "derive keys that are accepted")
        table.add(realm.name, String(count))
        call.console.write(
            table,
            json: ["realm": .string(realm.name), "accepted": .integer(Int64(count))],
            asJSON: call.arguments.has("json"))
        return .success
    }
}
