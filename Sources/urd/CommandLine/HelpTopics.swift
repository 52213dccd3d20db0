/// `urd --help` and `urd help TOPIC`: which commands there are, and for what.
extension HelpText {
    static let topics = CommandGroup.all.map(\.name) + ["settings", "all"]

    /// Every purpose with its nouns, on one screen.
    static func overview(of commands: [any AnySubcommand], program: String) -> String {
        let forms = commands.map(\.form)
        var lines = ["Urd: an identity backend whose state is its log.", ""]
        lines.append("usage: \(program) <command> [options]")
        var rest = forms
        for group in CommandGroup.all where forms.contains(where: group.has) {
            let rows = group.rows.filter { row in
                forms.contains { row.nouns.contains($0.path.first ?? "") }
            }
            lines.append(group.title)
            lines += columns(
                rows.map { ($0.nouns.joined(separator: ", "), $0.summary) }, widest: 27)
            rest.removeAll(where: group.has)
        }
        if !rest.isEmpty { lines += ["Other"] + columns(rest.map { ($0.name, $0.summary) }) }
        return
            (lines + [
                "",
                "`\(program) help GROUP`: " + CommandGroup.all.map(\.name).joined(separator: ", "),
                "`\(program) help all`, `\(program) help settings`, `\(program) <command> --help`,"
                    + " `\(program) --version`",
            ]).joined(separator: "\n")
    }

    /// The page of a topic; nil where there is no such topic.
    static func topic(
        _ name: String, of commands: [any AnySubcommand], program: String
    ) -> String? {
        switch name {
        case "settings": return settingsPage(program: program)
        case "all": return list(of: commands, under: [], program: program)
        default: break
        }
        guard let group = CommandGroup.all.first(where: { $0.name == name }) else { return nil }
        let shown = byNoun(commands.map(\.form).filter(group.has))
        guard !shown.isEmpty else { return nil }
        let lines = [group.title, ""] + columns(shown.map { ($0.name, $0.summary) })
        return (lines + ["", "`\(program) <command> --help` shows options and examples."])
            .joined(separator: "\n")
    }

    private static func settingsPage(program: String) -> String {
        let lines = [
            "Settings. Each is a flag of the commands that read it, an environment variable, and for a "
                + "secret a file or a systemd credential. A flag beats the environment, that a file, "
                + "that the default. `\(program) config print` shows their values."
        ].flatMap { wrap($0, width: width) }
        return (lines + [""] + columns(Settings.table.map { ($0.option.usage, $0.helpSummary) }))
            .joined(separator: "\n")
    }
}
