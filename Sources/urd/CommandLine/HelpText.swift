/// Help pages: made from what the commands declare, so that they cannot lie.
enum HelpText {
    static let width = 80

    /// Every command under some first words, with its summary.
    static func list(of commands: [any AnySubcommand], under path: [String], program: String)
        -> String
    {
        let usage = [program] + path + ["<command>", "[options]"]
        let shown = byNoun(commands.map(\.form).filter { $0.path.starts(with: path) })
        return
            (["usage: " + usage.joined(separator: " "), ""]
            + columns(shown.map { ($0.name, $0.summary) })
            + ["", "`\(program) <command> --help` shows options and examples."])
            .joined(separator: "\n")
    }

    /// Commands with the same first word stand together, at the first of them.
    static func byNoun(_ commands: [CommandForm]) -> [CommandForm] {
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
        let options = command.ownOptions + [.help]
        lines += ["", "Options:"] + columns(options.map { ($0.usage, $0.summary) })
        lines += ["", "Examples:"] + command.examples.map { "  \($0)" }
        if !command.settings.isEmpty {
            lines += [
                "", "`\(program) help settings` shows the settings, which are options as well.",
            ]
        }
        return lines.joined(separator: "\n")
    }

    /// A term and its text, the texts below each other; a long term gets a line of its own.
    static func columns(
        _ rows: [(String, String)], indent: Int = 2, widest: Int? = nil
    ) -> [String] {
        let widest = widest ?? rows.map(\.0.count).filter { $0 <= 28 }.max() ?? 0
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
