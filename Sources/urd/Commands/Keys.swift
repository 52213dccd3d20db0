import EventSourcing
import EventStore
import JSON

/// Changes the master key: every key that the old one wraps is wrapped by the new one.
struct KeysRotateMaster: Subcommand {
    static let path = ["keys", "rotate-master"]
    static let summary = "Wrap every realm's keys under a new master key"
    static let details = """
        --master-key-file names the new key, --old the one that is in use. Nodes that still run with
        the old key must be started again with the new one afterwards.
        """
    static let options = [
        Option.value("old", "path", "File with the master key that is in use"), Option.json,
    ]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        guard let old = call.arguments.value("old") else {
            throw UsageError("--old is missing: the file of the key that is in use")
        }
        let store = try Store(call.settings(), previousKeys: [old])
        defer { store.close() }
        try await store.checkSchema()
        let count = try await store.keyring.rotateMaster()
        var table = Table("keys wrapped anew")
        table.add(String(count))
        call.console.write(
            table, json: ["wrapped": .integer(Int64(count))], asJSON: call.arguments.has("json"))
        return .success
    }
}

/// Gives a realm new keys: backups of single rows that hold destroyed keys become useless.
struct KeysRotateRealm: Subcommand {
    static let path = ["keys", "rotate-realm"]
    static let summary = "Give a realm a new wrapping key and wrap every subject's key anew"
    static let options = [
        Option.value("realm", "realm", "The realm; URD_REALM otherwise"), Option.json,
    ]
    static let settings = Store.settings

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
