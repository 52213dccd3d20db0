import EventSourcing
import EventStore
import JSON

/// Hands the whole log out for verification elsewhere.
struct LogExport: Subcommand {
    static let path = ["log", "export"]
    static let summary = "Write the sealed log of a realm to the output, for verification elsewhere"
    static let examples = ["urd log export --realm demo >demo.log"]
    static let details = """
        A header, every record on a line of its own, and every checkpoint behind the last record
        that it covers. `Tests/Interop/verify_log.py log` verifies it without Urd.
        """
    static let options = [
        RealmOption.option,
        Option.value("from", "position", "The first position"),
    ]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        let from = try call.arguments.position("from") ?? 1
        return try await LogReading(call).run { proofs, realm in
            let progress = Progress("export \(realm)", unit: "lines", on: call.console)
            var lines: Int64 = 0
            try await proofs.export(realm, from: from) { bytes in
                call.console.send(bytes, .output)
                try call.console.checkOutput()
                lines += Int64(bytes.count { $0 == 10 })
                progress.advance(to: lines)
            }
            progress.finish()
        }
    }
}
