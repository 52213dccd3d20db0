import EventSourcing
import EventStore
import JSON

/// Changes the master key: every key that the old one wraps is wrapped by the new one.
struct KeysRotateMaster: Subcommand {
    static let path = ["keys", "rotate-master"]
    static let summary = "Wrap every realm's keys under a new master key"
    static let examples = ["urd keys rotate-master --old old.key --master-key-file new.key"]
    static let details = """
        --master-key-file names the new key, --old the one that is in use. Nodes that still run with
        the old key must be started again with the new one afterwards: until then they make no keys for
        new realms, and say so.

        Realms whose keys another master key wraps are named. They are read again once the command has
        run with that key as --old.
        """
    static let options = [
        Option.value("old", "path", "File with the master key that is in use"), Option.json,
    ]
    static let settings = Store.settings
    static let consequence = Consequence.destructive(
        "wraps all keys under the new master key: nodes that run with the old one must be restarted"
    )

    func run(_ call: Invocation) async throws -> ExitCode {
        guard let old = call.arguments.value("old") else {
            throw UsageError("--old is missing: the file of the key that is in use")
        }
        let store = try Store(call.settings(), previousKeys: [old])
        defer { store.close() }
        try await store.checkSchema()
        let count = try await store.keyring.rotateMaster()
        let left = try await store.keyring.realmsOfOtherMasters()
        if !left.isEmpty {
            call.console.complain(
                "Another master key than --old wraps the keys of "
                    + left.map(\.name).joined(separator: ", ")
                    + ": run this once more with that one as --old.")
        }
        var table = Table("keys wrapped anew")
        table.add(String(count))
        call.console.write(
            table, json: ["wrapped": .integer(Int64(count))], asJSON: call.arguments.has("json"))
        return .success
    }
}
