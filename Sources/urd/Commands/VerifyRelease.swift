import EventStore
import JSON

/// Shows of a downloaded release that it is the one that was made.
struct VerifyRelease: Subcommand {
    static let path = ["verify-release"]
    static let summary = "Verify a downloaded release: signature, sums and record"
    static let examples = ["urd verify-release release/urd.deb --key urd.pub"]
    static let details = """
        FILE is one file of the release. Beside it are SHA256SUMS and its signature, and what else of the release
        is there is verified too. With --log-key, the release has to be on record in the log with that key, by the proof
        beside it. Both keys must come by another way than the release. Ends with 1 when something is wrong.
        """
    static let operands = [Operand("file", "A file of the release")]
    static let options = [
        Option.value("key", "file", "Public key of the releases (minisign)"),
        Option.value("log-key", "text", "Public key of the log, as `urd log key` shows it"),
        Option.json,
    ]

    func run(_ call: Invocation) async throws -> ExitCode {
        let file = call.arguments.words["file"]?.first ?? ""
        let keyFile = try call.arguments.required("key")
        guard let key = MinisignKey(try File.text(keyFile)) else {
            throw CommandFailure("\(keyFile) has no public key of minisign")
        }
        let log = try call.arguments.value("log-key").map { text throws(UsageError) in
            guard let log = NoteVerifier(text) else { throw UsageError("--log-key is no key") }
            return log
        }
        var files = ReleaseFiles(Path.parent(of: file))
        let name = file.split(separator: "/").last.map(String.init) ?? ""
        try files.verify(file: name, key: key, log: log)
        var table = Table("part", "result")
        for finding in files.findings { table.add(finding.part, finding.result) }
        call.console.write(
            table,
            json: [
                "whole": .bool(files.areWhole),
                "parts": .array(
                    files.findings.map { finding in
                        [
                            "part": .string(finding.part), "result": .string(finding.result),
                            "wrong": .bool(finding.isWrong),
                        ]
                    }),
            ], asJSON: call.arguments.has("json"))
        return files.areWhole ? .success : .failure
    }
}
