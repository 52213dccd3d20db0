/// Prints the page for `man urd`, made from what the commands and settings say of themselves.
struct Manual: Subcommand {
    static let path = ["manual"]
    static let summary = "Print the manual page, for man"
    static let examples = ["urd manual >urd.1"]

    func run(_ call: Invocation) async throws -> ExitCode {
        call.console.write(Self.page(of: Commands.all.map(\.form)))
        return .success
    }

    static func page(of commands: [CommandForm]) -> String {
        var lines = [
            ".TH URD 1 \"\" \"urd \(Version.number)\" \"Urd\"", ".SH NAME",
            "urd \\- identity backend whose state is its log", ".SH SYNOPSIS",
            ".B urd", ".I command", "[options]", ".SH DESCRIPTION",
            roff("`urd COMMAND --help` shows the options and examples of a command."),
        ]
        for group in CommandGroup.all {
            lines.append(".SH \(roff(group.title.uppercased()))")
            for form in HelpText.byNoun(commands.filter(group.has)) {
                let words = (form.path + form.operands.map(\.usage)).joined(separator: " ")
                lines += [".TP", ".B urd \(roff(words))", roff(form.summary + ".")]
            }
        }
        lines.append(".SH SETTINGS")
        lines.append(roff("A flag beats the environment, that a file, that the default."))
        for setting in Settings.table {
            lines += [".TP", ".B \(roff(setting.option.usage))", roff(setting.helpSummary)]
        }
        lines += [
            ".SH FILES", ".TP", ".I /etc/urd/urd.env", "Settings of the service.",
            ".TP", ".I /etc/urd/master.key",
            roff("Key that wraps all others. Without it nothing that is sealed can be read."),
            ".TP", ".I /var/lib/urd", "Last signed checkpoint of each realm.",
            ".SH SEE ALSO", ".BR urd-admin (8)",
        ]
        return lines.joined(separator: "\n")
    }

    /// Text in which nothing is taken for a request.
    static func roff(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            default: escaped.append(character)
            }
        }
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }
}
