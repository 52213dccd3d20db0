import Glibc
import JSON
import Synchronization

/// One run of `urd dev`: everything that is started here is stopped here.
final class Development: Sendable {
    private struct State {
        var cluster: Cluster?
        var postmaster: Postmaster?
        var isStopping = false
    }

    let folder: DevelopmentFolder
    let environment: Environment
    let port: UInt16
    let console: Console
    let steps: any DevelopmentSteps
    private let style: Style
    private let state = Mutex(State())

    /// What a run for an app's own tests has otherwise.
    struct Style: Sendable {
        var isEphemeral = false
        /// Whether it writes one line of JSON, once it is ready, and nothing else.
        var isJSON = false
        var people: [JSON] = []
    }

    init(
        folder: DevelopmentFolder, environment: Environment, port: UInt16, console: Console,
        steps: any DevelopmentSteps, style: Style = Style()
    ) {
        self.style = style
        self.folder = folder
        self.environment = environment
        self.port = port
        self.console = console
        self.steps = steps
    }

    private enum DevelopmentEvent: Sendable {
        case signal
        /// The server stopped: by request, or with an error.
        case ended((any Error)?)
        case postgresLost(String)
        case tooSlow
    }

    func run(
        fresh: Bool, withHistory: Bool = false, stops: AsyncStream<Int32>
    ) async throws -> ExitCode {
        try folder.prepare()
        guard let lock = try FolderLock.take(folder.lockFile) else {
            let holder = (try? File.text(folder.lockFile))?.split(separator: "\n").first ?? "?"
            throw CommandFailure(
                "urd dev already runs on \(folder.path) (process \(holder))",
                remedy: "Stop it, or use another folder and port: URD_DATA=… URD_PORT=… make dev")
        }
        defer { withExtendedLifetime(lock) {} }
        try checkPort()
        if fresh { try await wipe() }

        let (happenings, report) = AsyncStream.makeStream(of: DevelopmentEvent.self)
        let listening = Task { for await _ in stops { report.yield(.signal) } }
        let work = Task {
            do {
                try await self.work(withHistory) { report.yield(.postgresLost($0)) }
                report.yield(.ended(nil))
            } catch {
                report.yield(.ended(error))
            }
        }
        let failure = await wait(for: happenings, stopping: work, report: report)
        await stopPostgres()
        listening.cancel()
        if let failure { throw failure }
        say(
            style.isEphemeral
                ? "Stopped; nothing stays" : "Stopped; the data stays in \(folder.path)")
        return .success
    }

    /// Returns when all that is left to do is to stop PostgreSQL.
    private func wait(
        for happenings: AsyncStream<DevelopmentEvent>, stopping work: Task<Void, Never>,
        report: AsyncStream<DevelopmentEvent>.Continuation
    ) async -> (any Error)? {
        var isStopping = false
        var lost: String?
        for await happening in happenings {
            switch happening {
            case .signal where isStopping:
                return nil
            case .signal, .postgresLost:
                if case .postgresLost(let why) = happening { lost = why }
                isStopping = true
                state.withLock { $0.isStopping = true }
                if lost == nil { say("Stopping (again: at once)") }
                work.cancel()
                Task {
                    try? await Task.sleep(for: .seconds(20))
                    report.yield(.tooSlow)
                }
            case .ended(let error):
                if let lost { return CommandFailure(lost) }
                return isStopping ? nil : error ?? CommandFailure("Serving ended by itself")
            case .tooSlow:
                return lost.map { CommandFailure($0) }
            }
        }
        return nil
    }

    private func work(
        _ withHistory: Bool, lost: @escaping @Sendable (String) -> Void
    ) async throws {
        let place = try await startPostgres(lost: lost)
        let demo = try await demo(in: place)
        if withHistory { try await steps.prepareHistory(place) }
        try Task.checkCancellation()
        try await steps.serve(place) { listening in
            let file = try self.note(place, listening, demo)
            if self.style.isJSON {
                self.console.writeLine(file.json)
            } else {
                self.greet(listening, demo)
            }
        }
    }

    private func demo(in place: DevelopmentPlace) async throws -> Demo {
        if !File.exists(folder.masterKeyFile) { try MasterKeyFile.create(folder.masterKeyFile) }
        try File.makeFolder(folder.checkpoints, mode: 0o700)
        try Task.checkCancellation()
        try await steps.migrate(place)
        try await state.withLock { $0.cluster }?.fenceAnalysts()
        try Task.checkCancellation()
        let previous = (try? File.text(folder.environmentFile)).flatMap(
            DevelopmentEnvironment.demo(in:))
        return try await steps.prepareDemo(place, previous: previous)
    }

    @discardableResult
    private func note(
        _ place: DevelopmentPlace, _ listening: ServerAddress, _ demo: Demo
    ) throws -> DevelopmentEnvironment {
        let file = DevelopmentEnvironment(place: place, listening: listening, demo: demo)
        try File.writeAtomically(
            Array(file.text.utf8), to: folder.environmentFile, mode: 0o600)
        return file
    }

    /// Makes the database and the demo realms of a first start, and stops.
    func prepare() async throws {
        try folder.prepare()
        guard let lock = try FolderLock.take(folder.lockFile) else {
            throw CommandFailure("another process took \(folder.path)")
        }
        defer { withExtendedLifetime(lock) {} }
        do {
            let place = try await startPostgres(lost: { _ in })
            try note(place, ServerAddress(port: port, privatePort: nil), await demo(in: place))
        } catch {
            await stopPostgres()
            throw error
        }
        await stopPostgres()
    }

    func say(_ text: String) {
        if style.isJSON { console.complain(text) } else { console.write(text) }
    }

    private func greet(_ listening: ServerAddress, _ demo: Demo) {
        let url = "http://localhost:\(listening.port)"
        let issuers = listening.issuers.joined(separator: "\n             ")
        let inbox = listening.inbox ?? "mails go to the mail server of URD_SMTP_HOST"
        say(
            """

            Urd is ready: \(url)
              issuers    \(issuers)
              realm      \(demo.realm), client \(demo.clientID)
              keys       set -a; . \(DevelopmentEnvironment.quoted(folder.environmentFile)); set +a
              sign in    curl -s "$URD_APP_URL/api/account/native/otp/request" \\
                           --json '{"Email": "me@example.org"}'
              pages      http://localhost:\(listening.port)/account
              inbox      \(inbox)
              admin      curl -s -H "Authorization: Bearer $URD_ADMIN_KEY" \\
                           "$URD_URL/api/admin/realms/$URD_REALM/clients"
              database   psql "$URD_DATABASE_URL"
            Ctrl-C stops everything; \(style.isEphemeral ? "nothing stays" : "the data stays (--fresh starts anew)").

            """)
    }

    private func checkPort() throws(CommandFailure) {
        switch Port.state(of: port) {
        case .free: break
        case .taken:
            throw CommandFailure(
                "Port \(port) is taken by another program",
                remedy: "Choose another:  URD_PORT=\(port < 65000 ? port + 100 : 8080) make dev")
        case .forbidden:
            throw CommandFailure(
                "Port \(port) needs more rights than you have", remedy: "Choose one above 1023.")
        case .unknown(let code):
            throw CommandFailure(
                "Port \(port) cannot be used: \(String(cString: strerror(code)))")
        }
    }
}

// MARK: - PostgreSQL

extension Development {
    /// Starts with nothing: the old cluster and all that belongs to it go.
    private func wipe() async throws {
        if let place = try ClusterPlace.existing(in: folder) {
            try await Cluster.endLeftovers(in: place, say: say)
            try place.wipe()
        }
        try folder.wipe()
    }

    private func startPostgres(
        lost: @escaping @Sendable (String) -> Void
    ) async throws -> DevelopmentPlace {
        let account = try Account.forDatabase()
        let place =
            try ClusterPlace.existing(in: folder)
            ?? ClusterPlace.make(for: folder, account: account, say: say)
        try await Cluster.endLeftovers(in: place, say: say)
        let programs = try PostgresPrograms.find(
            clusterVersion: place.version, environment: environment)
        if place.version != nil, !File.exists(folder.masterKeyFile) {
            throw CommandFailure(
                "The database is there but its master key is not: \(folder.masterKeyFile)",
                remedy: "Put the file back, or start anew with --fresh.")
        }
        let cluster = Cluster(
            place: place, programs: programs, socketFolder: try place.makeSocketFolder(),
            log: folder.databaseLog, more: style.isEphemeral ? Cluster.unkept : [])
        state.withLock { $0.cluster = cluster }
        if place.version == nil {
            say("Making a PostgreSQL \(programs.major) cluster in \(place.path)")
            // The key first: a cluster without its key is worth nothing, a key without one is.
            if !File.exists(folder.masterKeyFile) { try MasterKeyFile.create(folder.masterKeyFile) }
            try place.mark(for: folder)
            try await cluster.create()
        }
        try Task.checkCancellation()
        let postmaster = try await cluster.start()
        state.withLock { $0.postmaster = postmaster }
        Task { await watch(cluster, lost: lost) }
        try await cluster.prepareDatabase()
        return DevelopmentPlace(
            databaseURL: cluster.url(Cluster.application), ownerURL: cluster.url(Cluster.owner),
            masterKeyFile: folder.masterKeyFile, checkpointDirectory: folder.checkpoints,
            port: port, privatePort: folder.lastPrivatePort() ?? 0,
            isEphemeral: style.isEphemeral, people: style.people)
    }

    /// A server that ends by itself is started again, as a service manager would do; one that keeps
    /// ending, also while it starts, is given up.
    private func watch(_ cluster: Cluster, lost: @Sendable (String) -> Void) async {
        var restarts: [ContinuousClock.Instant] = []
        while let postmaster = state.withLock({ $0.isStopping ? nil : $0.postmaster }) {
            var why = "PostgreSQL ended (\(await postmaster.end().description))"
            while !state.withLock({ $0.isStopping || $0.postmaster !== postmaster }) {
                let now = ContinuousClock.now
                restarts = restarts.filter { now - $0 < .seconds(60) } + [now]
                if restarts.count > 20 {
                    return lost("PostgreSQL keeps ending; see \(cluster.log). At last: \(why)")
                }
                say("\(why); starting it again")
                try? await Task.sleep(for: .milliseconds(500))
                do {
                    try await restart(cluster)
                } catch {
                    why = "PostgreSQL does not start again: \(error)"
                }
            }
        }
    }

    private func restart(_ cluster: Cluster) async throws {
        try await Cluster.endLeftovers(in: cluster.place, inUse: cluster.socketFolder, say: say)
        if state.withLock({ $0.isStopping }) { return }
        let next = try await cluster.start()
        let isWanted = state.withLock { state in
            state.postmaster = next
            return !state.isStopping
        }
        if !isWanted { await next.stop() }
    }

    func stopPostgres() async {
        let (postmaster, cluster) = state.withLock { state in
            state.isStopping = true
            return (state.postmaster, state.cluster)
        }
        await postmaster?.stop()
        cluster?.tidy()
    }
}
