import EventSourcing
import EventStore
import JSON

/// Shows that the log is unchanged, or where it was changed.
struct Verify: Subcommand {
    static let path = ["verify"]
    static let summary = "Verify that the log of a realm, or of all realms, is as it was written"
    static let examples = ["urd verify --realm demo"]
    static let details = """
        Derives every leaf and the whole tree again and compares them with what was stored and
        signed, and with the last checkpoint outside the database. Names the first position that was
        changed, removed, inserted or reordered. A realm whose keys cannot be opened is named, and the
        others are verified all the same. Counts the sealed events that cannot be read though they
        were not erased. Ends with 1 when something is wrong.
        """
    static let options = [
        Option.value("realm", "realm", "Only this realm"),
        Option.value(
            "from", "position", "From this position on; a checkpoint vouches for the rest"),
        Option.json,
    ]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        let from = try call.arguments.position("from") ?? 1
        let settings = try call.settings()
        let store = try Store(settings)
        defer { store.close() }
        try await store.checkSchema()
        let verifier = LogVerifier(
            store.database, keyring: store.keyring,
            directory: settings[Settings.checkpointDirectory])
        var results: [Verification] = []
        var unreadable: [Unreadable] = []
        for realm in try await realms(call, store, settings[Settings.checkpointDirectory]) {
            let progress = Progress("verify \(realm)", unit: "events", on: call.console)
            let result: Verification
            do {
                result = try await verifier.verify(realm, from: from) {
                    progress.advance(to: $0.done, of: $0.total)
                }
            } catch let failure as LogFailure where failure.isLasting {
                progress.finish()
                unreadable.append(Unreadable(realm: realm, why: failure))
                continue
            }
            progress.finish()
            guard from <= max(1, result.last) else {
                throw CommandFailure("the realm '\(realm)' has no position \(from)")
            }
            results.append(result)
        }
        call.console.write(
            table(results, unreadable),
            json: .array(results.map(json) + unreadable.map(\.json)),
            asJSON: call.arguments.has("json"))
        if settings[Settings.checkpointDirectory] == nil {
            call.console.complain(
                "Nothing outside the database vouches for the end of the log: a tail that was cut "
                    + "off with its checkpoints would not be missed. Set checkpoint-directory.")
        }
        let isFine = results.allSatisfy { $0.isIntact && $0.unreadable.count == 0 }
        return unreadable.isEmpty && isFine ? .success : .failure
    }

    /// A realm that nothing can be said about.
    private struct Unreadable {
        let realm: RealmID
        let why: LogFailure

        var json: JSON {
            [
                "realm": .string(realm.name), "intact": false, "unreadable": .string("\(why)"),
            ]
        }
    }

    /// A realm that is gone as a whole has its last checkpoint outside the database still.
    private func realms(
        _ call: Invocation, _ store: Store, _ directory: String?
    ) async throws -> [RealmID] {
        let sealed = try directory.map { try CheckpointFile(directory: $0).realms() } ?? []
        if let name = call.arguments.value("realm") {
            let realm = try RealmOption.parse(name)
            guard try await store.log.head(of: realm).position > 0 || sealed.contains(realm) else {
                throw try await RealmOption.missing(name, in: store)
            }
            return [realm]
        }
        return try await Set(store.log.realms()).union(sealed).sorted()
    }

    private func table(_ results: [Verification], _ unreadable: [Unreadable]) -> Table {
        var table = Table(
            "realm", "from", "to", "sealed", "checkpoints", "result",
            numbers: ["from", "to", "sealed", "checkpoints"])
        for result in results {
            table.add(
                result.realm.name, String(result.first), String(result.last),
                String(result.sealed), String(result.checkpoints),
                [result.finding?.description ?? "intact", result.unreadable.description]
                    .compactMap(\.self).joined(separator: "; "))
        }
        for one in unreadable {
            table.add(one.realm.name, "", "", "", "", "cannot be verified: \(one.why)")
        }
        return table
    }

    private func json(_ result: Verification) -> JSON {
        var members: JSONObject = [
            "realm": .string(result.realm.name), "from": .integer(result.first),
            "to": .integer(result.last), "sealed": .integer(result.sealed),
            "checkpoints": .integer(Int64(result.checkpoints)), "intact": .bool(result.isIntact),
        ]
        if let finding = result.finding {
            members["finding"] = [
                "problem": .string(finding.problem.rawValue),
                "position": .integer(finding.position),
                "not_before": .integer(finding.notBefore),
            ]
        }
        if let first = result.unreadable.first {
            members["unreadable_events"] = [
                "without_key": .integer(result.unreadable.withoutKey),
                "not_opened": .integer(result.unreadable.notOpened), "first": .integer(first),
            ]
        }
        return .object(members)
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
