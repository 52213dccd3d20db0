import Glibc

/// Runs all of Urd with a PostgreSQL of its own, for trying and developing.
struct Dev: Subcommand {
    static let path = ["dev"]
    static let summary = "Start Urd with a private PostgreSQL, a demo realm and a demo client"
    static let examples = ["urd dev --port 8090 --data /tmp/urd-data"]
    static let details = """
        Keeps everything in one folder: URD_DATA, or .dev in the current folder. Listens on
        127.0.0.1, port URD_PORT or 8080. Once it is ready it writes dev.env there, in shell
        syntax, with the addresses, the keys and the demo client.

        Mails come to an inbox that a browser shows; with a mail server set, they go there.

        Ctrl-C stops everything. The next start goes on with the data; --fresh removes it first.
        """
    static let options = [
        Option.flag("fresh", "Remove the data of earlier runs first"),
        Option.flag(
            "demo-history", "Make the realm 'history': a month of sign-ins of 2,000 people"),
        Option.value("port", "port", "Port to listen on, before URD_PORT"),
        Option.value("data", "path", "Folder for everything, before URD_DATA"),
    ]

    static let settings =
        Settings.mailing + Settings.outgoing
        + [
            Settings.breachedPassphrases, Settings.geoDatabase, Settings.trustedProxies,
            Settings.certificateHeader,
        ]

    let steps: @Sendable (Settings) -> any DevelopmentSteps

    func run(_ call: Invocation) async throws -> ExitCode {
        try ProcessLimits.ofThisProcess().require()
        Signals.ignoreBrokenPipes()
        let stops = Signals.stops()
        let folder =
            if let given = call.arguments.value("data") {
                DevelopmentFolder(path: try Path.absolute(given))
            } else {
                try DevelopmentFolder(environment: call.environment)
            }
        let development = Development(
            folder: folder, environment: call.environment, port: try port(call),
            console: call.console, steps: steps(try call.settings()))
        return try await development.run(
            fresh: call.arguments.has("fresh"),
            withHistory: call.arguments.has("demo-history"), stops: stops)
    }

    private func port(_ call: Invocation) throws(UsageError) -> UInt16 {
        let text = call.arguments.value("port") ?? call.environment["URD_PORT"] ?? "8080"
        guard let port = UInt16(text), port > 0 else {
            throw UsageError("the port must be a number from 1 to 65535, not '\(text)'")
        }
        return port
    }
}
