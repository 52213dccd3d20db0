import API
import HTTPClient
import HTTPServer
import JSON
import Systemd
import Telemetry

/// Serves on an existing PostgreSQL.
struct Serve: Subcommand {
    static let path = ["serve"]
    static let summary = "Serve on an existing PostgreSQL"
    static let examples = ["urd serve --listen-port 8090 --private-port 8091"]
    static let details = """
        Needs a migrated database (`urd migrate`) and the master key. Waits for PostgreSQL when it
        is not there yet. SIGTERM stops it: requests in flight finish first.

        Under systemd it takes its sockets over, tells when it is ready and answers the watchdog.
        """
    static let settings = Settings.table

    func run(_ call: Invocation) async throws -> ExitCode {
        try ProcessLimits.ofThisProcess().require()
        Signals.ignoreBrokenPipes()
        let stops = Signals.stops()
        let sockets = try ListeningSocket.handedOver()
        let settings = try call.settings(strictly: true)
        let lines = Log(settings)
        if settings[Settings.checkpointDirectory] == nil {
            // What the database says of itself is no proof once an attacker owns the database.
            lines.warning("sealer.no_checkpoint_directory", [:])
        }
        var options = ServeOptions(settings, sockets)
        options.outgoing = try OutgoingCalls(settings)
        options.mailCarrier = try SMTPCarrier(settings, lines)
        try BreachedList.check(settings)
        if options.mailCarrier == nil { lines.warning("mailer.no_mail_server", [:]) }
        let store = try Store(settings, lines: lines, isNode: true)
        let service = Service(store: store, options: options)
        let serving = Task { try await service.run { _ in lines.notice("server.ready") } }
        let stopping = Task {
            for await _ in stops { serving.cancel() }
        }
        defer { stopping.cancel() }
        try await serving.value
        return .success
    }
}

extension ServeOptions {
    /// A socket that systemd handed over stands in for an address: by name, else the first one.
    init(_ settings: Settings, _ sockets: [ListeningSocket]) {
        self.init()
        let inner = sockets.first { $0.name == "private" }
        let open = sockets.first { $0.name == "public" } ?? sockets.first { $0 != inner }
        listener = HTTPServer.Configuration(settings)
        listener.address = settings[Settings.listenAddress]
        listener.port = settings[Settings.listenPort]
        listener.listeningSocket = open?.descriptor
        var privateListener = HTTPServer.Configuration(settings)
        privateListener.address = settings[Settings.privateAddress]
        privateListener.port = settings[Settings.privatePort]
        privateListener.listeningSocket = inner?.descriptor
        self.privateListener = privateListener
        drain = settings[Settings.drain]
        readyLag = settings[Settings.readyLag]
        checkpointDirectory = settings[Settings.checkpointDirectory]
        destinations = .publicOnly(except: settings.outgoingNetworks)
        webhookDestinations = .publicOnly(except: settings.webhookNetworks)
        webhookSources = settings[Settings.webhookEgress].map { "\($0)" }
        authorities = settings[Settings.outgoingAuthorities]
        breachedPassphrases = settings[Settings.breachedPassphrases]
        geoDatabases = GeoDatabases.paths(settings)
        forwarding = Forwarding(settings, port: settings[Settings.listenPort])
    }
}

extension Forwarding {
    /// Whom the settings believe.
    init(_ settings: Settings, port: UInt16) {
        self.init(
            trusted: settings[Settings.trustedProxies], ports: [port],
            certificateHeader: settings[Settings.certificateHeader])
    }
}

extension HTTPServer.Configuration {
    init(_ settings: Settings) {
        self.init()
        threads = settings[Settings.listenThreads]
        maximumConnections = settings[Settings.maximumConnections]
        let perSource = settings[Settings.maximumConnectionsPerSource]
        maximumConnectionsPerSource = perSource == 0 ? nil : perSource
        maximumHeaderBytes = settings[Settings.maximumHeader]
        maximumBodyBytes = settings[Settings.maximumBody]
        idleTimeout = settings[Settings.idleTimeout]
        transferTimeout = settings[Settings.transferTimeout]
        requestDeadline = settings[Settings.requestDeadline]
    }
}
