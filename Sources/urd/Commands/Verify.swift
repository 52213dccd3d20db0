import EventSourcing
import EventStore
import JSON

/// Shows that the log is unchanged, or where it was changed.
struct Verify: Subcommand {
    static let path = ["verify"]
    static let summary = "Verify that the log of a realm, or of all realms, is as it was written"
    static let examples = ["urd verify --realm demo", "urd verify --realm demo --laws"]
    static let details = """
        Derives every leaf and the whole tree again and compares them with what was stored and
        signed, and with the last checkpoint outside the database. Names the first position that was
        changed, removed, inserted or reordered. A realm whose keys cannot be opened is named, and the
        others are verified all the same. Counts the sealed events that cannot be read though they
        were not erased.

        With --laws it holds what it reads against the laws of the log as well, which docs/laws.md
        has: rules that the server keeps at every request. It says how often each law was asked and
        broken, and how often it would have had to know what stands before --from. Ends with 1 when
        something is wrong.
        """
    static let options = [
        Option.value("realm", "realm", "Only this realm"),
        Option.value(
            "from", "position", "From this position on; a checkpoint vouches for the rest"),
        Option.flag("laws", "Hold the log against the laws of the log, too"),
        Option.json,
    ]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        let from = try call.arguments.position("from") ?? 1
        let settings = try call.settings()
        let store = try Store(settings)
        defer { store.close() }
        try await store.checkSchema()
        let checkpoints = settings[Settings.checkpointDirectory]
        let report = try await LogReport(
            of: realms(call, store, checkpoints), in: store, checkpoints: checkpoints, from: from,
            holdsLaws: call.arguments.has("laws"), console: call.console)
        let isJSON = call.arguments.has("json")
        call.console.write(report.table, json: report.json, asJSON: isJSON)
        if call.arguments.has("laws"), !isJSON { write(report.laws, call.console) }
        if checkpoints == nil {
            call.console.complain(
                "Nothing outside the database vouches for the end of the log: a tail that was cut "
                    + "off with its checkpoints would not be missed. Set checkpoint-directory.")
        }
        return report.isFine ? .success : .failure
    }

    private func write(_ laws: LawReport, _ console: Console) {
        console.write("\n" + laws.laws.render(width: Table.width))
        if let violations = laws.violations {
            console.write("\n" + violations.render(width: Table.width))
        }
        if let remark = laws.remark { console.complain(remark) }
    }

    private func realms(
        _ call: Invocation, _ store: Store, _ directory: String?
    ) async throws -> [RealmID] {
        let known = try await LogReport.realms(store, checkpoints: directory)
        if let name = call.arguments.value("realm") {
            let realm = try RealmOption.parse(name)
            guard known.contains(realm) else {
                throw try await RealmOption.missing(name, in: store)
            }
            return [realm]
        }
        return known.sorted()
    }
}

extension Arguments {
    /// An option that is a position in the log.
    func position(_ option: String) throws(UsageError) -> Int64? {
        guard let text = value(option) else { return nil }
        guard let position = Int64(text), position > 0 else {
            throw UsageError("--\(option) must be a position from 1 on, not '\(text)'")
        }
        return position
    }
}
