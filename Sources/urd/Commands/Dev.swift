import API
import Glibc
import JSON

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

        With --ephemeral it is a server for an app's own tests (docs/testing.md): the database is in memory, nothing
        stays, any number run side by side, and tests move its clock.
        """
    static let options = [
        Option.flag("fresh", "Remove the data of earlier runs first"),
        Option.flag(
            "demo-history", "Make the realm 'history': a month of sign-ins of 2,000 people"),
        Option.flag(
            "ephemeral", "Run for an app's own tests: in memory, with a clock that they move"),
        Option.value("people", "file", "With --ephemeral: people of the demo realm, as JSON"),
        Option.flag("json", "With --ephemeral: write what dev.env has as one line of JSON"),
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
        if call.arguments.has("ephemeral") { return try await runEphemeral(call) }
        for name in ["people", "json"]
        where call.arguments.has(name) || call.arguments.value(name) != nil {
            throw UsageError("--\(name) goes with --ephemeral")
        }
        let stops = Signals.stops()
        let folder =
            if let given = call.arguments.value("data") {
                DevelopmentFolder(path: try Path.absolute(given))
            } else {
                try DevelopmentFolder(environment: call.environment)
            }
        let development = Development(
            folder: folder, environment: call.environment, port: try port(call) ?? 8080,
            console: call.console, steps: steps(try call.settings()))
        return try await development.run(
            fresh: call.arguments.has("fresh"),
            withHistory: call.arguments.has("demo-history"), stops: stops)
    }

    private func runEphemeral(_ call: Invocation) async throws -> ExitCode {
        if call.arguments.has("fresh") {
            throw UsageError("--ephemeral begins anew by itself: leave --fresh out")
        }
        if call.arguments.value("data") != nil {
            throw UsageError("--ephemeral keeps nothing: leave --data out")
        }
        return try await EphemeralRun(
            environment: call.environment, port: try port(call),
            people: try call.arguments.value("people").map(people) ?? [],
            console: call.console, asJSON: call.arguments.has("json"),
            steps: steps(try call.settings())
        ).run(withHistory: call.arguments.has("demo-history"))
    }

    /// The people of a file, each of which could be imported.
    private func people(_ path: String) throws -> [JSON] {
        let json: JSON
        do {
            json = try JSON.parse(try File.bytes(path))
        } catch let error as JSONError {
            throw CommandFailure("\(path) is no JSON: \(error)")
        }
        guard let people = json.array else {
            throw CommandFailure("\(path) has no people: it must be an array of objects")
        }
        for (index, person) in people.enumerated() where TestPerson.record(person) == nil {
            throw CommandFailure(
                "\(path): person \(index + 1) needs an email, and a passphrase is text")
        }
        return people
    }

    /// The port that is asked for; nil where none is named.
    private func port(_ call: Invocation) throws(UsageError) -> UInt16? {
        guard let text = call.arguments.value("port") ?? call.environment["URD_PORT"] else {
            return nil
        }
        guard let port = UInt16(text), port > 0 else {
            throw UsageError("the port must be a number from 1 to 65535, not '\(text)'")
        }
        return port
    }
}
