import API
import EventSourcing
import Identity
import JSON
import Mail
import Values

/// A first installation with one command.
struct SetupCommand: Subcommand {
    static let path = ["setup"]
    static let summary = "Set up a first installation: key, database, schema and realm"
    static let examples = [
        "urd setup --host id.example.org --email ann@example.org --smtp-host smtp.example.org"
    ]
    static let details = """
        Makes what is missing in /etc/urd (master key, addresses of the database with new passwords, settings), the
        database and its roles on this machine's PostgreSQL, the schema, a realm with its host, and an account for
        the first person. Asks on a terminal for what is not given. What is there stays as it is: run it
        again after an interruption.

        --database-admin-url names another PostgreSQL, as a role that may create roles and databases. The
        address is used once, and not kept.

        Settings of mailing are kept in urd.env, the password in a file of its own. All programs of this machine see
        the flags of a command: let URD_SMTP_PASSWORD_FILE and PGPASSFILE name the files of passwords.
        """
    static let options = [
        Option.value("host", "host", "Host name at which people sign in"),
        Option.value("email", "address", "Mail address of the first person"),
        Option.value("realm", "realm", "Name of the realm; main by default"),
        Option.value("display-name", "text", "Name of the realm for people; its host by default"),
        Option.value("directory", "path", "Folder of the configuration; /etc/urd by default"),
        Option.value(
            "database-admin-url", "url",
            "PostgreSQL, as a role that may create roles and databases"),
        Option.json,
    ]
    static let settings = Settings.mailing

    func run(_ call: Invocation) async throws -> ExitCode {
        let settings = try call.settings()
        let host = try asked("host", "Host name at which people sign in: ", call)
        guard let host else { throw UsageError("--host is missing: the host name of the realm") }
        let name = call.arguments.value("realm") ?? "main"
        let email = try asked("email", "Mail address of the first person (none): ", call)
        try Self.check(host: host, email: email)
        let run = SetupRun(
            folder: try SetupFolder(
                call.arguments.value("directory") ?? SetupFolder.standard),
            administrator: call.arguments.value("database-admin-url"),
            realm: SetupRealm(
                name: try RealmOption.parse(name).name,
                displayName: call.arguments.value("display-name") ?? host, host: host,
                email: email),
            settings: settings, console: call.console)
        let report = try await run.run()
        let next = Self.nextSteps(host: host, hasMail: settings[Settings.smtpHost] != nil)
        guard !call.arguments.has("json") else {
            call.console.write([
                "parts": report.json, "next": .array(next.map { .string($0) }),
            ])
            return .success
        }
        call.console.write(
            "Urd is set up. Next:\n" + next.map { "  \($0)" }.joined(separator: "\n"))
        return .success
    }

    /// Before anything is made: the realm and its settings keep these words.
    private static func check(host: String, email: String?) throws(UsageError) {
        guard HostName(host) != nil else {
            throw UsageError("--host must be a host name in lower case, such as id.example.org")
        }
        guard let email else { return }
        do throws(MailAddress.Fault) {
            _ = try MailAddress(email)
        } catch {
            throw UsageError("--email must be a mail address, such as ann@example.org")
        }
    }

    /// A value that was given; on a terminal, what a person types.
    private func asked(
        _ option: String, _ question: String, _ call: Invocation
    ) throws -> String? {
        if let given = call.arguments.value(option) { return given }
        guard call.console.canAsk else { return nil }
        call.console.prompt(question)
        let typed = call.console.readLine()?.split(separator: " ").joined() ?? ""
        return typed.isEmpty ? nil : typed
    }

    private static func nextSteps(host: String, hasMail: Bool) -> [String] {
        var steps = ["systemctl enable --now urd", "urd-admin doctor"]
        if !hasMail {
            steps.append("name a mail server (URD_SMTP_HOST): until then, mailed codes wait")
        }
        return steps + [
            "put TLS in front of 127.0.0.1:8080, as nginx.conf does",
            "people sign in at https://\(host)/account",
            "copy master.key to another place than the database's backups",
        ]
    }
}
