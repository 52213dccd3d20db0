import JSON
import Postgres

/// Takes an analyst's role away.
struct AnalystRemove: Subcommand {
    static let path = ["analyst", "remove"]
    static let summary = "Remove a database role, and end its connections"
    static let examples = ["urd analyst remove grafana"]
    static let options = [Option.json]
    static let operands = [Operand("name", "Its name, as `urd analyst list` shows it")]
    static let settings: [any AnySetting] = [Settings.databaseOwnerURL]
    static let consequence = Consequence.destructive(
        "takes the database role away: what connects as it loses its connection")

    func run(_ call: Invocation) async throws -> ExitCode {
        let address = try call.settings().require(Settings.databaseOwnerURL)
        let name = call.arguments.words["name"]?.first ?? ""
        try await AnalystRoles.run(address) { roles in
            guard try roles.disable(name) else {
                throw CommandFailure.missing(
                    "analyst", name, among: try roles.all().map(\.name),
                    remedy: "`urd analyst list` names them.")
            }
            do throws(Postgres.Failure) {
                try roles.drop(name)
            } catch {
                throw Self.kept(name, try roles.belongings(of: name))
            }
        }
        var table = Table("removed")
        table.add(name)
        call.console.write(
            table, json: ["removed": .string(name)], asJSON: call.arguments.has("json"))
        return .success
    }

    private static func kept(_ name: String, _ belongings: [String]) -> CommandFailure {
        CommandFailure(
            "\(name) sees nothing and cannot connect any more, but PostgreSQL keeps the role, which has things in: "
                + belongings.joined(separator: ", ") + ".",
            remedy: "As a superuser, in each of these databases: drop owned by \(name); "
                + "then, once more: urd analyst remove \(name)")
    }
}
