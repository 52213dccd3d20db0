/// Looks for what would keep Urd from running well, and says how to mend it.
struct Doctor: Subcommand {
    static let path = ["doctor"]
    static let summary = "Look for what is wrong with this installation, and say how to mend it"
    static let details = """
        Reads the settings that `urd serve` would read, looks at this machine and asks the database
        as the application's role. It changes nothing. The exit code is 1 when something is wrong;
        warnings leave it at 0.
        """
    static let options = [Option.json]
    static let settings = Settings.table

    let tools: DoctorTools

    func run(_ call: Invocation) async throws -> ExitCode {
        let findings = await examine(call)
        if call.arguments.has("json") {
            call.console.write(findings.json)
        } else {
            call.console.write(findings.text)
        }
        return findings.isHealthy ? .success : .failure
    }

    private func examine(_ call: Invocation) async -> Findings {
        let settings: Settings
        do throws(SettingsFailure) {
            settings = try call.settings(strictly: true)
        } catch {
            return Findings(
                all: error.problems.map {
                    .wrong("settings", $0, mend: "urd config print --help lists every setting.")
                })
        }
        var all = [Diagnosis.fine("settings", "every one can be read")]
        all += LocalChecks.all(settings, now: tools.now())
        if let address = settings[Settings.databaseURL] {
            let checks = DatabaseChecks(tools: tools, address: address)
            all += await checks.all(connections: settings[Settings.databaseConnections])
        } else {
            all.append(
                .wrong(
                    "database", "database-url is not set",
                    mend: "Give URD_DATABASE_URL, URD_DATABASE_URL_FILE or the credential "
                        + "database_url."))
        }
        if let address = settings[Settings.databaseOwnerURL] { all.append(await owner(address)) }
        return Findings(all: all)
    }

    private func owner(_ address: String) async -> Diagnosis {
        do {
            _ = try await tools.query(address, "select 1")
            return .fine("owner", "can connect")
        } catch {
            return .wrong(
                "owner", "cannot connect: \(error)",
                mend: "Correct database-owner-url, or leave it out where nobody migrates.")
        }
    }
}
