/// Looks whether a PostgreSQL keeps the promises that Urd's rest on: before anything is installed in it.
struct DoctorEngine: Subcommand {
    static let path = ["doctor", "engine"]
    static let summary = "Try whether a PostgreSQL keeps what Urd needs of it"
    static let examples = [
        "urd doctor engine postgresql://postgres@db.example.org/postgres",
        "urd doctor engine postgresql://postgres@db.example.org/postgres --json",
    ]
    static let details = """
        For any PostgreSQL, also a rented one or one behind a pooler, before Urd is installed in it. The role of
        the address must be allowed to make a schema there: the trial's own is dropped in the end. The exit
        code is 1 when a promise is broken.

        With --before-restart it leaves rows behind, and notes in a file which were acknowledged. Kill the
        server, or fail over, and run it with --after-restart and the same file: it says what was lost, and
        whether a failover can be told.
        """
    static let operands = [Operand("url", "Where the database is, and the role: postgresql://…")]
    static let options = [
        Option.json,
        .value("before-restart", "file", "Leave rows behind, and note in this file which"),
        .value("after-restart", "file", "Say what became of them, and remove them"),
    ]

    func run(_ call: Invocation) async throws -> ExitCode {
        let trial = EngineTrial(address: call.arguments.words["url"]?.first ?? "")
        let findings: Findings
        switch (call.arguments.value("before-restart"), call.arguments.value("after-restart")) {
        case (_?, _?):
            throw UsageError(
                "--before-restart and --after-restart are two runs, with a restart between")
        case (let file?, nil): findings = await trial.leaveRows(file)
        case (nil, let file?):
            findings = try await EngineRestart(file).findings(trial.address)
            if findings.isHealthy { try File.remove(file) }
        case (nil, nil): findings = Findings(all: await trial.all(.ofThisBinary))
        }
        if call.arguments.has("json") {
            call.console.write(findings.json)
        } else {
            call.console.write(findings.text)
        }
        return findings.isHealthy ? .success : .failure
    }
}
