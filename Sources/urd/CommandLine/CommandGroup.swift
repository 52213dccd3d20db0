/// How help sorts the commands: by purpose, and within one by the noun that they begin with.
struct CommandGroup: Sendable {
    struct Row: Sendable {
        let nouns: [String]
        let summary: String

        init(_ nouns: String..., summary: String) {
            self.nouns = nouns
            self.summary = summary
        }
    }

    /// The word of `urd help GROUP`.
    let name: String
    let title: String
    let rows: [Row]

    func has(_ form: CommandForm) -> Bool {
        rows.contains { row in row.nouns.contains { $0 == form.path.first } }
    }

    static let all: [CommandGroup] = [
        CommandGroup(
            name: "core", title: "Core",
            rows: [
                Row("dev", summary: "Start Urd with a database and demo realms"),
                Row("serve", summary: "Serve on an existing PostgreSQL"),
                Row("setup", "migrate", summary: "Set up an installation, or update its schema"),
                Row("doctor", "health", summary: "Find what is wrong, or ask whether it serves"),
                Row(
                    "config", "export-config", summary: "Show settings, or a realm's configuration"),
                Row("completion", "manual", summary: "Print completions, or the manual page"),
            ]),
        CommandGroup(
            name: "realms", title: "Realms",
            rows: [
                Row("realm", summary: "Create, configure and disable realms (tenants)"),
                Row("host", "app", summary: "Assign host names; manage apps and their branding"),
                Row("plan", "apply", "drift", summary: "Keep realms in a configuration file"),
            ]),
        CommandGroup(
            name: "clients", title: "Clients",
            rows: [
                Row(
                    "client", "registration-token",
                    summary: "Manage OAuth clients; let them register"),
                Row("provider", summary: "Sign in through other OpenID providers"),
            ]),
        CommandGroup(
            name: "sign-in", title: "People and sign-in",
            rows: [
                Row("account", summary: "Manage accounts, their sessions and roles"),
                Row("import", "invite", summary: "Move accounts in, or invite people"),
                Row("history", summary: "See who signed in, and who could not"),
                Row(
                    "mail", "message-gateway",
                    summary: "See mails on their way; set SMS gateways"),
            ]),
        CommandGroup(
            name: "audit", title: "Audit and privacy",
            rows: [
                Row(
                    "audit", "as-of", "analyst",
                    summary: "See who changed what, and how it was then"),
                Row("events", "feed", "export", summary: "Read, follow and export events"),
                Row(
                    "replay", "finding", "what-if",
                    summary: "Watch sign-ins again, and try rules on them"),
                Row(
                    "verify", "proof", "log", "case",
                    summary: "Verify the log, and prove what it says"),
                Row("subject", summary: "Erase personal data for ever"),
            ]),
        CommandGroup(
            name: "operate", title: "Operate",
            rows: [
                Row("admin", summary: "Manage the keys of the admin API"),
                Row(
                    "keys", "signing-key", summary: "Rotate the keys that wrap data or sign tokens"),
                Row("backup", "restore", summary: "Write backups, verify them and bring them back"),
                Row(
                    "projections", "verify-release",
                    summary: "Verify and rebuild read models; verify a release"),
                Row(
                    "subscription", "webhook",
                    summary: "Send events to services, or keep their place"),
            ]),
        CommandGroup(
            name: "flagship", title: "Flagship profile",
            rows: [
                Row("owner", "integrity-keys", summary: "Say who owns a realm; verify its app"),
                Row("web-app", "device", summary: "Manage web apps, and apps on devices"),
                Row("push-provider", "notification", summary: "Deliver notifications"),
            ]),
    ]
}
