import JSON

/// Decides whether a destructive command may run. It is the one place that does: a command only declares
/// its consequence.
///
/// On a terminal the person sees what goes and types its name. Without a terminal `--yes` is needed, so
/// that a script says that it means it. `--dry-run` shows what goes, and changes nothing.
struct Confirmation {
    static let options = [
        Option.flag("yes", "Run without asking; needed where there is no terminal to ask on"),
        Option.flag("dry-run", "Show what would change, and change nothing"),
    ]

    let command: any AnySubcommand
    let form: CommandForm
    let call: Invocation

    func mayRun() async throws -> Bool {
        guard case .destructive(let effect, let option) = form.consequence else { return true }
        if let option, !call.arguments.has(option) { return true }
        if call.arguments.has("dry-run") {
            show(try await command.preview(call), effect)
            return false
        }
        if call.arguments.has("yes") { return true }
        guard call.console.canAsk else {
            throw UsageError(
                "`urd \(form.name)` \(effect): give --yes, since there is no terminal to ask on")
        }
        try ask(try await command.preview(call), effect)
        return true
    }

    private func ask(_ preview: Preview, _ effect: String) throws(CommandFailure) {
        let console = call.console
        console.complain("`urd \(form.name)` \(effect).")
        if !preview.rows.isEmpty { console.complain(table(preview).render(width: Table.width)) }
        console.prompt("Type \(preview.name) to confirm: ")
        // The command has not begun: no task needs the thread that waits here.
        let typed = console.readLine()
        guard let typed, typed.trimmed == preview.name else {
            throw CommandFailure(
                "nothing was changed: '\(typed?.trimmed ?? "")' is not '\(preview.name)'")
        }
    }

    private func show(_ preview: Preview, _ effect: String) {
        if form.options.contains(.json), call.arguments.has("json") {
            let rows = preview.rows.map { ($0.label, JSON.string($0.value)) }
            return call.console.write([
                "dry_run": true, "command": .string(form.name), "name": .string(preview.name),
                "effect": .string(effect),
                "found": .object(JSONObject(rows)),
            ])
        }
        call.console.write("`urd \(form.name)` \(effect): \(preview.name)")
        if !preview.rows.isEmpty { call.console.write(table(preview).render(width: Table.width)) }
        call.console.write("Nothing was changed (--dry-run).")
    }

    private func table(_ preview: Preview) -> Table {
        var table = Table("name", "value")
        for row in preview.rows { table.add(row.label, row.value) }
        return table
    }
}

extension String {
    fileprivate var trimmed: String {
        let blank: (Character) -> Bool = { $0.isWhitespace }
        let start = drop(while: blank)
        return String(start.reversed().drop(while: blank).reversed())
    }
}
