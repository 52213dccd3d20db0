/// Help pages: made from what the commands declare, so that they cannot lie.
enum HelpText {
    static let width = 80

    static func list(of commands: [any AnySubcommand], under path: [String], program: String)
        -> String
    {
        var lines: [String] = []
        if path.isEmpty {
            lines += ["Urd: an identity backend whose state is its log.", ""]
        }
        let usage = [program] + path + ["<command>", "[options]"]
        lines += ["usage: " + usage.joined(separator: " ")]
        lines += [""]
        let shown = byNoun(commands.map(\.form).filter { $0.path.starts(with: path) })
        lines += columns(shown.map { ($0.name, $0.summary) })
        lines += ["", "`\(program) <command> --help` tells more about a command."]
        if path.isEmpty { lines.append("`\(program) --version` tells which one this is.") }
        return lines.joined(separator: "\n")
    }

    /// What begins with one word stands together, where the first of it stood.
    private static func byNoun(_ commands: [CommandForm]) -> [CommandForm] {
        var nouns: [String] = []
        for command in commands where !nouns.contains(command.path.first ?? "") {
            nouns.append(command.path.first ?? "")
        }
        return nouns.flatMap { noun in commands.filter { $0.path.first == noun } }
    }

    static func page(of command: CommandForm, program: String) -> String {
        var usage = [program] + command.path + command.operands.map(\.usage)
        if !command.allOptions.isEmpty { usage.append("[options]") }
        var lines = [command.summary + ".", "", "usage: " + usage.joined(separator: " ")]
        for paragraph in command.details.split(separator: "\n\n") {
            lines += [""] + wrap(String(paragraph), width: width)
        }
        if !command.operands.isEmpty {
            lines += [""] + columns(command.operands.map { ($0.usage, $0.summary) })
        }
        let options = command.options + [.help]
        lines += ["", "Options:"] + columns(options.map { ($0.usage, $0.summary) })
        if !command.settings.isEmpty {
            lines += ["", "Settings (flag, or environment, or file; `\(program) config print`):"]
            lines += columns(command.settings.map { ($0.option.usage, $0.helpSummary) })
        }
        return lines.joined(separator: "\n")
    }

    /// A term and its text, the texts below each other; a long term gets a line of its own.
    static func columns(_ rows: [(String, String)], indent: Int = 2) -> [String] {
        let widest = rows.map(\.0.count).filter { $0 <= 28 }.max() ?? 0
        let start = indent + widest + 2
        let margin = String(repeating: " ", count: start)
        var lines: [String] = []
        for (term, text) in rows {
            var texts = wrap(text, width: max(20, width - start))[...]
            var line = String(repeating: " ", count: indent) + term
            if term.count <= widest, let first = texts.popFirst() {
                line += String(repeating: " ", count: start - line.count) + first
            }
            lines.append(line)
            lines += texts.map { margin + $0 }
        }
        return lines
    }

    static func wrap(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " " + word
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }
}
