import API
import Values

/// Looks for what would keep Urd from running well, and says how to mend it.
struct Doctor: Subcommand {
    static let path = ["doctor"]
    static let summary = "Find what is wrong with this installation, and say how to mend it"
    static let examples = ["urd doctor", "urd doctor --security --realm demo"]
    static let details = """
        Reads the settings that `urd serve` would read, looks at this machine and asks the database
        as the application's role. It changes nothing: what it writes, to see whether that can be done,
        is rolled back. The exit code is 1 when something is wrong; warnings leave it at 0.

        With --security it looks at what was chosen for the realms and their clients instead, and holds
        it against RFC 9700 and its kin. The database must be there, and the master key.

        With --introspection, --realm and --client it looks at the token in a file and says why that client
        hears of it that it is active, or that it isn't: the endpoint itself never says why.
        """
    static let options = [
        Option.json,
        .flag("security", "Look at what the security of the realms hangs on"),
        .value("introspection", "file", "Say why a client hears that this token is active, or not"),
        .value(
            "realm", "name", "With --security: this realm alone; with --introspection: the token's"),
        .value("client", "id", "With --introspection: the client that asks"),
    ]
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
        if call.arguments.has("security") { return await security(call, settings) }
        if let file = call.arguments.value("introspection") {
            return await introspection(file, call, settings)
        }
        var all = [Diagnosis.fine("settings", "every one can be read")]
        let listeners = Listeners(settings, environment: call.environment)
        all += LocalChecks.all(settings, listeners, now: tools.now())
        if let address = settings[Settings.databaseURL] {
            let checks = DatabaseChecks(tools: tools, address: address)
            all += await checks.all(connections: settings[Settings.databaseConnections])
            all += await realms(settings, after: all)
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

    /// Nothing where what they need is not there, which the other checks say.
    private func realms(_ settings: Settings, after found: [Diagnosis]) async -> [Diagnosis] {
        let needed = ["master key", "database", "schema"]
        guard !found.contains(where: { needed.contains($0.check) && $0.verdict == .wrong }) else {
            return []
        }
        // They would wait for the same lock.
        guard !found.contains(where: { $0.check == "locks" && $0.verdict == .wrong }) else {
            return [
                .warning(
                    "keys", "not looked at while a session keeps writes out",
                    mend: "Run urd doctor again when it has ended.")
            ]
        }
        do {
            return try await tools.realms(settings)?.diagnoses ?? []
        } catch {
            return [.wrong("keys", "cannot be looked at: \(error)", mend: "Run: urd verify")]
        }
    }

    private func security(_ call: Invocation, _ settings: Settings) async -> Findings {
        let posture = InstallationPosture(
            smtpHost: settings[Settings.smtpHost], smtpSecurity: settings[Settings.smtpSecurity],
            hasBreachedList: settings[Settings.breachedPassphrases].map {
                BreachedList(path: $0).fault() == nil
            } ?? false, cookies: API.cookies)
        var all = SecurityChecks.ofInstallation(posture)
        do {
            let name = call.arguments.values["realm"]?.first
            let realms = try await tools.postures(settings, name)
            if let name, realms.isEmpty {
                let known = try await tools.postures(settings, nil).map(\.realm)
                all.append(
                    .wrong(
                        "realm",
                        "there is no realm '\(name)'" + NearestName.hint(for: name, among: known),
                        mend: "urd realm list names them."))
            }
            for realm in realms {
                all += SecurityChecks(
                    realm: realm, installation: posture, now: Timestamp(microseconds: tools.now())
                ).all()
            }
        } catch {
            all.append(
                .wrong("realms", "cannot be read: \(error)", mend: "urd doctor says why."))
        }
        return Findings(all: all)
    }

    private func introspection(
        _ file: String, _ call: Invocation, _ settings: Settings
    ) async -> Findings {
        let check = "introspection"
        guard let realm = call.arguments.value("realm"), let client = call.arguments.value("client")
        else {
            return Findings(all: [
                .wrong(
                    check, "needs --realm and --client as well",
                    mend: "urd doctor --introspection token --realm demo --client orders-api")
            ])
        }
        do {
            let token = try File.text(file).filter { !$0.isWhitespace }
            let question = IntrospectionQuestion(realm: realm, client: client, token: token)
            let found = try await tools.introspection(settings, question)
            return Findings(all: [found].compactMap(\.self))
        } catch {
            return Findings(all: [
                .wrong(check, "cannot be looked at: \(error)", mend: "urd doctor says why.")
            ])
        }
    }

    private func owner(_ address: String) async -> Diagnosis {
        do {
            _ = try await tools.query(address, "select 1")
            return .fine("owner", "can connect")
        } catch {
            return .wrong(
                "owner", "cannot connect: \(error)",
                mend:
                    "Correct database-owner-url, or leave it out where migrations are run elsewhere."
            )
        }
    }
}
