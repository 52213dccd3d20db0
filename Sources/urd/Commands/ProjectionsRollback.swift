import EventStore
import JSON
import Postgres
import ReadModels
import Values

/// Goes back to the build before.
struct ProjectionsRollback: Subcommand {
    static let path = ["projections", "rollback"]
    static let summary = "Switch a read model back to the build before the live one"
    static let examples = ["urd projections rollback clients"]
    static let options = [Option.json]
    static let operands = [Operand("projection", "Its name, as `urd projections status` shows it")]
    static let settings: [any AnySetting] = [Settings.databaseOwnerURL]
    static let consequence = Consequence.destructive(
        "switches the read model back to the build before, and drops the live one")

    func run(_ call: Invocation) async throws -> ExitCode {
        let build = try await ProjectionWork(call).run { engine, name, report in
            try engine.rollback(name, report: report)
        }
        var table = Table("live build")
        table.add(String(build))
        call.console.write(
            table, json: ["build": .integer(Int64(build))], asJSON: call.arguments.has("json"))
        return .success
    }
}
