import EventStore
import JSON
import Postgres

/// Brings the database to this binary's schema, read models included.
struct Migrate: Subcommand {
    static let path = ["migrate"]
    static let summary = "Bring the database to this binary's schema"
    static let examples = ["urd migrate --check", "urd migrate"]
    static let details = """
        Runs as the owner of the schema. Read models whose definition changed are built anew beside
        the live ones, compared and switched to; nothing has to stop for it.

        --check changes nothing and ends with 1 when there is something to do. A schema that is
        newer than this binary is refused.
        """
    static let options = [
        Option.flag("check", "Only say what would be done"), Option.json,
    ]
    static let settings: [any AnySetting] = [Settings.databaseOwnerURL]

    func run(_ call: Invocation) async throws -> ExitCode {
        let address = try call.settings().require(Settings.databaseOwnerURL)
        if call.arguments.has("check") { return try check(address, call) }
        let done = try await Self.migrate(address, console: call.console)
        let isJSON = call.arguments.has("json")
        if done.isEmpty, !isJSON {
            call.console.write(Self.upToDate(version: Migrator.newestSchema))
            return .success
        }
        var table = Table("applied")
        for step in done { table.add(step) }
        call.console.write(
            table, json: ["applied": .array(done.map { .string($0) })], asJSON: isJSON)
        return .success
    }

    private func check(_ address: String, _ call: Invocation) throws -> ExitCode {
        let state: Migrator.State
        do {
            state = try Migrator(Connection(address, application: "urd migrate")).state()
        } catch let refusal as Migrator.Refusal {
            throw CommandFailure(refusal.description)
        }
        let isJSON = call.arguments.has("json")
        if state.pending.isEmpty, !isJSON {
            call.console.write(Self.upToDate(version: state.schema))
            return state.isCurrent ? .success : .failure
        }
        var table = Table("pending")
        for step in state.pending { table.add(step) }
        call.console.write(
            table,
            json: [
                "schema": .integer(Int64(state.schema)), "binary": .integer(Int64(state.binary)),
                "pending": .array(state.pending.map { .string($0) }),
            ],
            asJSON: isJSON)
        return state.isCurrent ? .success : .failure
    }

    private static func upToDate(version: Int) -> String { "Up to date (version \(version))." }

    /// - Returns: the names of the applied migrations.
    static func migrate(_ address: String, console: Console) async throws -> [String] {
        do {
            let migrator = try Migrator(Connection(address, application: "urd migrate"))
            let steps = try migrator.migrate()
            let built = try await Models.migrate(owner: address, console: console)
            try EventFieldTable.write(to: address)
            // Another process may be at it.
            try? AnalystFences.close(at: address)
            return steps + built
        } catch let refusal as Migrator.Refusal {
            throw CommandFailure(refusal.description)
        }
    }
}
