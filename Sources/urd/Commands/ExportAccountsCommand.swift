import API
import EventSourcing
import JSON
import Values

/// Writes the accounts of a realm for another system, with their hashes.
struct ExportAccountsCommand: Subcommand {
    static let path = ["export", "accounts"]
    static let summary = "Write the accounts of a realm as JSON lines, with their hashes"
    static let examples = [
        "urd export accounts --reason 'Moving to another installation' --out accounts.ndjson"
    ]
    static let details = """
        One account a line, in the form of docs/moving-in.md, which `urd import accounts --from urd` reads again: with
        hashes of passphrases, secrets of authenticator apps, passkeys and identities. It needs the master key, and is on
        record before anything is written.
        """
    static let options = [
        RealmOption.option,
        Option.value("reason", "text", "Why they are exported; it is kept in the log (required)"),
        Option.value("out", "file", "Write it there, whole or not at all; the output otherwise"),
    ]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        let realm = try RealmOption(call).realm
        guard let reason = call.arguments.value("reason") else {
            throw UsageError("--reason is missing: it says why the accounts are exported")
        }
        let requests = try await AdminRequests(call.settings())
        defer { requests.close() }
        do {
            _ = try await requests.read("getRealm", ["realm": .string(realm.name)])
        } catch let refusal as RouteRefusal {
            throw refusal.failure
        }
        let export = requests.accountExport(of: realm, reason: reason)
        let file = try call.arguments.value("out").map { try DraftFile($0) }
        let progress = Progress("export", unit: "accounts", on: call.console)
        var (count, after): (Int64, UUID?) = (0, nil)
        repeat {
            let page = try await export.page(after: after)
            for record in page.records {
                if let file {
                    try file.write(record.canonical() + [0x0A])
                } else {
                    call.console.writeLine(record)
                    try call.console.checkOutput()
                }
            }
            count += Int64(page.records.count)
            after = page.last
            progress.advance(to: count)
        } while after != nil
        progress.finish()
        if let file {
            try file.publish()
            call.console.write("Wrote \(count) accounts to \(file.path).")
        }
        return .success
    }
}
