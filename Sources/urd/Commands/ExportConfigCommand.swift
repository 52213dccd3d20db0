import API
import EventSourcing
import JSON

/// Writes a realm's configuration as a file.
struct ExportConfigCommand: Subcommand {
    static let path = ["export-config"]
    static let summary = "Write the configuration of a realm as a file for `urd apply`"
    static let examples = [
        "urd export-config --realm demo >demo.yaml", "urd export-config --schema >urd.schema.json",
    ]
    static let details = """
        In YAML, or with --json in JSON. Secrets are not in it: each is named by the environment variable from which
        `urd apply` is to take it. People and their data are not in it. --schema writes the JSON Schema of such files,
        by which editors complete and check them.
        """
    static let options = [
        RealmOption.option, Option.flag("schema", "Write the JSON Schema of configuration files"),
        Option.json,
    ]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        if call.arguments.has("schema") {
            call.console.write(API.configurationSchema)
            return .success
        }
        let realm = try RealmOption(call).realm
        let requests = try await AdminRequests(call.settings())
        defer { requests.close() }
        do {
            let document = try await requests.read(
                "exportConfiguration", ["realm": .string(realm.name)])
            if call.arguments.has("json") {
                call.console.write(document)
            } else {
                call.console.write(YAMLText.of(document))
            }
        } catch let refusal as RouteRefusal {
            throw refusal.failure
        }
        return .success
    }
}
