import JSON

/// What a configuration file would change.
struct PlanCommand: ComparingCommand {
    static let path = ["plan"]
    static let summary = "Show what a configuration file changes in its realms"
    static let examples = ["urd plan urd.yaml", "urd plan urd.yaml --prune --json"]
    static let details = """
        Exits with 0 where nothing is to do, with 2 where something changes, and with 1 for an error. Nothing is
        changed. docs/configuration-file.md says what a file may have.
        """
    static let options = [ConfigurationRequests.prune, Option.json]
    static let operands = [ConfigurationRequests.operand]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        let requests = try await ConfigurationRequests(
            call, prunes: call.arguments.has("prune"))
        defer { requests.close() }
        let plans = try await requests.plans()
        if call.arguments.has("json") {
            call.console.write(["file": .string(requests.files.digest), "realms": .array(plans)])
        } else {
            call.console.write(plans.map { PlanText($0).text }.joined(separator: "\n"))
        }
        return plans.contains(where: \.hasChanges) ? .changes : .success
    }
}
