import JSON

/// What differs from a configuration file, and who changed it.
struct DriftCommand: ComparingCommand {
    static let path = ["drift"]
    static let summary = "Show who changed what since a configuration file was applied"
    static let examples = ["urd drift urd.yaml"]
    static let details = """
        Compares the realms with the file, and names the events that made the difference, with their actors and
        positions. Exits with 0 where the realms are as the file has them, with 2 where something was changed in them
        since, and with 1 for an error. What the file says newly is listed, and waits for `urd apply`.
        """
    static let options = [Option.json]
    static let operands = [ConfigurationRequests.operand]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        let requests = try await ConfigurationRequests(call)
        defer { requests.close() }
        let answers = try await requests.ask("compareConfiguration")
        try requests.checkErrors(of: answers)
        if call.arguments.has("json") {
            call.console.write(["file": .string(requests.files.digest), "realms": .array(answers)])
        } else {
            call.console.write(answers.map { DriftText($0).text }.joined(separator: "\n"))
        }
        return answers.contains { DriftText.hasDrifted($0) } ? .changes : .success
    }
}
