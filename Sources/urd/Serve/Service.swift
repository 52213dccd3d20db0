import API
import EventSourcing
import EventStore
import HTTP
import HTTPClient
import HTTPServer
import Identity
import JOSE
import JSON
import ReadModels
import Synchronization
import Systemd
import Telemetry
import Threads
import Values

/// Everything that `urd serve` runs, and how it starts and stops.
struct Service: Sendable {
    let store: Store
    let options: ServeOptions

    /// Serves until the task is cancelled, then drains. Calls `ready` once, when the database has
    /// answered and requests can be served.
    func run(ready: @escaping @Sendable (ServerAddress) async throws -> Void) async throws {
        let models = try Models(store)
        let sealer = Sealer(
            store.database, keyring: store.keyring,
            settings: .init(directory: options.checkpointDirectory), hub: store.log.hub,
            metrics: store.metrics, log: store.lines)
        let watch = RealmsWatch(store, readyLag: options.readyLag)
        let health = Health(store: store, models: models, sealer: sealer, watch: watch)
        let sender = try WebhookSender(options, store, models.queries)
        let places = GeoDatabases(
            options.geoDatabases, lines: store.lines, metrics: store.metrics)
        let servers = try start(models, health, sender, places)
        store.lines.notice(
            "server.listening",
            [
                "port": .integer(Int64(servers.open.port)),
                "private_port": servers.inner.map { .integer(Int64($0.port)) } ?? .null,
            ])
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await store.checkSchema(patience: nil) }
                try await group.next()
                health.schemaIsRight()
                // What time it is on record has to be known before anything is decided.
                await store.log.pollHeads()
                group.addTask { try await pollHeads() }
                group.addTask { try await health.tryWrites() }
                group.addTask { try await store.watchClocks() }
                group.addTask { try await watch.run() }
                group.addTask { try await sealer.run() }
                group.addTask { try await models.run() }
                group.addTask { try await forget(models.queries.sequences) }
                group.addTask { try await store.feeds.run(FeedCursorStore(store.database)) }
                group.addTask { try await servers.realms.recordRefusals() }
                group.addTask { try await places.run() }
                for mailer in mailers(models) { group.addTask { try await mailer.run() } }
                group.addTask { try await DeletionService(store, models.queries).run() }
                group.addTask { try await InstallationService(store).run() }
                let web = try WebClient(LogoutService.configuration(options))
                let logout = LogoutService(
                    store, letters: LogoutLetters(store, models.queries), web: web)
                group.addTask { try await logout.run() }
                let subscribers = try Subscribers(store, models.queries, options, sender)
                group.addTask { try await subscribers.run() }
                addAnalysis(models, to: &group)
                let notifications = NotificationService(
                    store,
                    delivery: NotificationDelivery(store, models.queries, options.outgoing))
                group.addTask { try await notifications.run() }
                if let watchdog = Watchdog.configured() {
                    group.addTask { await watchdog.run() }
                }
                try await commitsGetThrough(within: .seconds(2))
                try await ready(
                    ServerAddress(
                        port: servers.open.port, privatePort: servers.inner?.port,
                        hasInbox: options.inbox != nil))
                Notification.ready(status: "serving")
                // Services end when they are asked to; one that ends by itself takes all with it.
                try await group.next()
                group.cancelAll()
            }
        } catch {
            await close(servers)
            if !(error is CancellationError) { throw error }
            return
        }
        await close(servers)
    }

    /// Looks for what other nodes append, until the task is cancelled.
    private func pollHeads() async throws {
        try await store.log.pollHeads(every: .milliseconds(50), longest: .milliseconds(500))
    }

    /// Other nodes go on with what this one did, while it drains.
    private func close(_ servers: Servers) async {
        async let released: Void = store.leases.release()
        await stop(servers)
        await released
    }

    /// What is made for analysts in the background.
    private func addAnalysis(
        _ models: Models, to group: inout ThrowingTaskGroup<Void, any Error>
    ) {
        group.addTask { try await CaseFileService.rounds(store, models.queries).runAll() }
        group.addTask { try await WhatIfService.rounds(store).runAll() }
        group.addTask { try await AsOfBuildService(store).run() }
        group.addTask { try await AnalystWatch(store: store).run() }
    }

    private func mailers(_ models: Models) -> [Mailer] {
        let composer = MailComposer(store, models.queries)
        let messenger = Mailer(
            store, composer: composer, carrier: MessageCarrier(options, store.log), of: .messages)
        guard let carrier = options.mailCarrier else { return [messenger] }
        return [Mailer(store, composer: composer, carrier: carrier, of: .mails), messenger]
    }

    /// Whether they do is known a moment after the start: the node is announced only after that.
    private func commitsGetThrough(within patience: Duration) async throws {
        let deadline = ContinuousClock.now + patience
        while store.log.commitFault != nil, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private struct Servers: Sendable {
        let open: Server
        let inner: Server?
        let realms: RealmContexts
    }

    private func start(
        _ models: Models, _ health: Health, _ sender: WebhookSender, _ places: GeoDatabases
    ) throws -> Servers {
        let realms = RealmContexts(
            store: store, queries: models.queries, options.forwarding, options.outgoing,
            issuers: options.issuers,
            passphrases: .onThreads(
                list: options.breachedPassphrases, lines: store.lines,
                depth: store.metrics.queueDepth["passphrases"]),
            locate: { places.location(of: $0) })
        let api = API(services(models.queries))
        let router = Router(
            [
                .init(
                    API.table,
                    context: AdminContext(
                        store: store, queries: models.queries,
                        upstream: Upstream(calls: UpstreamCalls(options.outgoing)),
                        sender: sender, mayBeLoopback: options.allowsLoopback))
            ] + api.tables(of: realms), log: store.lines, metrics: store.metrics,
            lead: { await realms.led($0) },
            pages: realms.pages)
        let open = try listen(options.listener, router)
        guard let inner = options.privateListener else {
            return Servers(open: open, inner: nil, realms: realms)
        }
        var tables = [
            Router.Table(
                HealthRoutes.table,
                context: HealthContext(
                    metrics: store.metrics, refresh: NodeMetrics(store, health).refresh
                ) { await health.components() })
        ]
        if let inbox = options.inbox {
            tables.append(
                .init(
                    InboxRoutes.table,
                    context: InboxContext(
                        letters: { inbox.letters(to: $0, after: $1) },
                        awaited: { await inbox.letters(to: $0, after: $1, within: $2) })))
        }
        if let testing = options.testing {
            tables.append(.init(TestingRoutes.table, context: try testing(store)))
        }
        if options.allowsLoopback {
            let deliveries = DeliveryStore(store.database)
            tables.append(
                .init(
                    DeliveryPageRoutes.table,
                    context: DeliveryPageContext {
                        (try? await deliveries.recentAttempts(limit: 100)) ?? []
                    }))
        }
        let privateRouter = Router(
            tables, log: .silent, metrics: store.metrics, name: "urd_private_http")
        return Servers(
            open: open, inner: try listen(inner, privateRouter), realms: realms)
    }

    /// What the surfaces keep on this node.
    private func services(_ queries: ReadModelQueries) -> API.Services {
        let outgoing = options.outgoing
        let passed = store.realmClock.passed
        var services = API.Services()
        services.feeds = store.feeds
        services.signals = store.signalPages
        services.registry = ServiceRegistry(
            queries, revision: { queries.revision(of: $0) }, passed: passed,
            fetch: { await outgoing?.description(at: $0) })
        services.webhooks = WebhookSource(
            keys: WebhookKeys(store, queries), networks: options.webhookSources)
        services.logos = ClientLogos(passed: passed, fetch: { await outgoing?.logo(at: $0) })
        return services
    }

    /// The wrapper's error tells no address; the person who chose it needs to hear it.
    private func listen(_ place: HTTPServer.Configuration, _ router: Router) throws -> Server {
        do {
            return try Server(
                place, ready: { router.ready(for: $0) },
                unanswered: { router.unanswered($0, because: $1) },
                handler: { await router.respond(to: $0) })
        } catch {
            guard error.code == .socket || error.code == .address else { throw error }
            throw CommandFailure(
                "Cannot listen on \(place.address), port \(place.port): it is taken, not allowed, "
                    + "or no address of this machine (\(error.debugDescription))",
                remedy: "Choose another with URD_LISTEN_… or URD_PRIVATE_… (urd config print).")
        }
    }

    private func stop(_ servers: Servers) async {
        Notification.stopping()
        store.lines.notice("server.stopping")
        await servers.open.stop(drain: options.drain)
        await servers.inner?.stop(drain: .seconds(1))
        await servers.realms.recordDueRefusals(all: true)
        store.close()
    }

    /// Once an hour: outcomes of commands are kept for a week, some claims for minutes.
    private func forget(_ sequences: RequestSequenceStore) async throws {
        while !Task.isCancelled {
            for realm in store.log.hub.realms {
                _ = try? await store.log.forgetOldCommands(in: realm)
                _ = try? await store.log.forgetOldClaims(in: realm)
                try? await sequences.forgetUnused(in: realm)
            }
            try await Task.sleep(for: .seconds(3600))
        }
    }
}
