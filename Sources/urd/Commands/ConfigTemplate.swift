/// Prints a file of settings in which everything is explained and nothing is set.
struct ConfigTemplate: Subcommand {
    static let path = ["config", "template"]
    static let summary = "Print a file of all settings, each with its sentence and its default"
    static let examples = ["urd config template >urd.env"]
    static let details = """
        The file is read by systemd (EnvironmentFile=), by `urd-admin` and by a shell. Secrets have no line in
        it: each has a file of its own in /etc/urd.
        """

    func run(_ call: Invocation) async throws -> ExitCode {
        call.console.write(Self.text)
        return .success
    }

    static var text: String {
        let start = """
            # Settings of Urd. Each line that begins with #URD_ shows a default: take the # away to set another value.
            # `urd-admin config print` shows what holds, and why. A name that is misspelt is refused at the start.
            """
        let parts = Settings.table.map { setting in
            let words = HelpText.wrap(setting.summary + ".", width: 96).map { "# \($0)" }
            let line =
                setting.isSecret || setting.credential != .none
                ? "# A secret: in /etc/urd, in a file of its own."
                : "#\(setting.variable)=\(setting.defaultText ?? "")"
            return (words + [line]).joined(separator: "\n")
        }
        return ([start] + parts).joined(separator: "\n\n")
    }
}
