/// Shows what `urd serve` would run with, and where each value came from.
struct ConfigPrint: Subcommand {
    static let path = ["config", "print"]
    static let summary = "Show every setting, its value and where the value came from"
    static let examples = ["urd config print"]
    static let details = """
        A flag beats the environment, the environment a file, a file the default. Secrets are
        shown as set or unset. Unknown URD_ variables and values that cannot be are refused, as
        `urd serve` refuses them.
        """
    static let options = [Option.json]
    static let settings = Settings.table

    func run(_ call: Invocation) async throws -> ExitCode {
        let settings = try call.settings(strictly: true)
        call.console.write(settings.shown, json: settings.json, asJSON: call.arguments.has("json"))
        return .success
    }
}
