import JSON
import Values

/// Shows who reads which realm in SQL.
struct AnalystList: Subcommand {
    static let path = ["analyst", "list"]
    static let summary = "List the database roles of analysts"
    static let examples = ["urd analyst list"]
    static let options = [Option.json]
    static let settings: [any AnySetting] = [Settings.databaseOwnerURL]

    func run(_ call: Invocation) async throws -> ExitCode {
        let address = try call.settings().require(Settings.databaseOwnerURL)
        let all = try await AnalystRoles.run(address) { try $0.all() }
        var table = Table("analyst", "realm", "added")
        for one in all { table.add(one.name, one.realm, one.addedAt.description) }
        call.console.write(
            table,
            json: .array(
                all.map {
                    [
                        "analyst": .string($0.name), "realm": .string($0.realm),
                        "added_at": .string($0.addedAt.description),
                    ]
                }), asJSON: call.arguments.has("json"))
        return .success
    }
}
