import API
import EventSourcing
import EventStore
import HTTP
import HTTPClient
import HTTPServer
import Identity
import JSON
import Telemetry
import Values

/// What `urd dev` has the rest of Urd do.
struct DevelopmentRun: DevelopmentSteps {
    let console: Console
    /// The settings of mailing and of outgoing requests.
    let settings: Settings

    func migrate(_ place: DevelopmentPlace) async throws {
        _ = try await SchemaUpdate.run(place.ownerURL, console: console)
    }

    func prepareDemo(_ place: DevelopmentPlace, previous: Demo?) async throws -> Demo {
        let store = try Store(address: place.databaseURL, masterKeyFile: place.masterKeyFile)
        defer { store.close() }
        return try await DemoData(store).prepare(previous: previous)
    }

    func prepareHistory(_ place: DevelopmentPlace) async throws {
        let store = try Store(address: place.databaseURL, masterKeyFile: place.masterKeyFile)
        defer { store.close() }
        try await DemoHistory(store, console).prepare()
    }

    func serve(
        _ place: DevelopmentPlace, ready: @escaping @Sendable (ServerAddress) async throws -> Void
    ) async throws {
        let lines = Log(threshold: .warning)
        let options = try options(place, lines)
        let store = try Store(
            address: place.databaseURL, masterKeyFile: place.masterKeyFile, connections: 4,
            lanes: 2, lines: lines,
            fence: ServerRecord(directory: place.checkpointDirectory).fence(
                isNode: true, log: lines))
        try await TestingSupport(store, port: place.port).add(place.people)
        try await serve(place, store, options, ready)
    }

    /// How it serves: as `urd serve`, but for what a developer has on the same machine.
    func options(_ place: DevelopmentPlace, _ lines: Log) throws -> ServeOptions {
        var options = ServeOptions()
        options.listener.port = place.port
        options.privateListener?.port = place.privatePort
        options.checkpointDirectory = place.checkpointDirectory
        options.forwarding = Forwarding(settings, port: place.port)
        // A developer has clients on the same machine.
        options.destinations = .any
        options.webhookDestinations = .publicOnly(
            except: settings.webhookNetworks + AddressRange.ofThisMachine)
        options.webhookSources = settings[Settings.webhookEgress].map { "\($0)" }
        options.allowsLoopback = true
        options.authorities = settings[Settings.outgoingAuthorities]
        options.breachedPassphrases = settings[Settings.breachedPassphrases]
        options.geoDatabases = GeoDatabases.paths(settings)
        try BreachedList.check(settings)
        options.outgoing = try OutgoingCalls(settings)
        options.mailCarrier = try SMTPCarrier(settings, lines)
        if options.mailCarrier == nil {
            let inbox = Inbox()
            options.inbox = inbox
            options.mailCarrier = inbox
        }
        if place.isEphemeral {
            options.testing = { try TestingSupport($0, port: place.port).context }
        }
        return options
    }

    private func serve(
        _ place: DevelopmentPlace, _ store: Store, _ options: ServeOptions,
        _ ready: @escaping @Sendable (ServerAddress) async throws -> Void
    ) async throws {
        var options = options
        let issuers = DevelopmentIssuers(queries: try Models(store).queries, port: place.port)
        options.issuers = { () throws(LogFailure) in try await issuers.all() }
        try await Service(store: store, options: options).run { listening in
            var listening = listening
            listening.issuers = try await issuers.all()
            try await ready(listening)
        }
    }
}

/// The demo realm, its app and its client, made through the admin API like any other.
struct DemoData {
    static let realm = "demo"
    private static let client = "demo-client"
    private static let nativeClient = "demo-native"

    let store: Store
    private let router: Router
    private let metrics: Metrics

    /// - Parameter now: the time of what is made; the log's if nothing is said.
    init(_ store: Store, now: (@Sendable () -> Timestamp)? = nil) throws {
        self.store = store
        metrics = store.metrics
        router = Router(
            API.table,
            context: AdminContext(
                store: store, queries: try Models(store).queries, operator: "urd dev", now: now),
            log: .silent, metrics: store.metrics)
    }

    func prepare(previous: Demo?) async throws -> Demo {
        try await prepareRealm(
            Self.realm, "Demo", at: "localhost",
            [
                "primary_domain": "localhost", "native_grants": true,
                "signal_verification_interval": 0,
            ],
            // A developer joins again and again, always from the same machine.
            atFirst: ["rate_limits": ["native-otp": ["sign-ups": .null]]])
        try await prepareApp()
        try await prepareNativeClient()
        let registered = try await ask(
            "registerClient",
            [
                "realm": .string(Self.realm), "client_id": .string(Self.client),
                "client_name": "Demo client", "redirect_uris": ["http://127.0.0.1/callback"],
                "grant_types": ["authorization_code", "refresh_token"],
                "token_endpoint_auth_method": "client_secret_basic",
            ], unless: "client-exists")
        var secret = registered?["client_secret"]?.string ?? previous?.clientSecret
        if secret == nil {
            secret = try await ask(
                "rotateClientSecret",
                ["realm": .string(Self.realm), "client_id": .string(Self.client)])?[
                    "client_secret"]?.string
        }
        let stores = try DemoStores()
        try await prepareFlagship(stores)
        let owner = try await prepareOwner()
        let tenant = try await prepareVerify(previous?.tenant)
        let federation = try await prepareFederation(previous?.federation)
        var key = previous?.adminKey
        if let known = key, try await !isValid(known) { key = nil }
        if key == nil {
            key = try await ask("createAdminKey", ["name": "urd dev"])?["key"]?.string
        }
        guard let secret, let key else {
            throw CommandFailure("The demo client could not be made", remedy: "Start with --fresh.")
        }
        return Demo(
            realm: Self.realm, clientID: Self.client, clientSecret: secret,
            nativeClientID: Self.nativeClient, adminKey: key, registerToken: owner, stores: stores,
            tenant: tenant, federation: federation)
    }

    /// At `demo.localhost`, where each person who confirms a mail address gets an account.
    private func prepareApp() async throws {
        let made = try await ask(
            "createApp",
            ["realm": .string(Self.realm), "slug": "demo", "name": "Demo app"],
            unless: "app-exists")
        guard let id = made?["id"] else { return }
        _ = try await ask(
            "updateApp",
            [
                "realm": .string(Self.realm), "app_id": id,
                "settings": ["registration": "jit_on_otp"],
            ])
    }

    private func prepareNativeClient() async throws {
        var values = Self.forPhones
        values["realm"] = .string(Self.realm)
        values["client_id"] = .string(Self.nativeClient)
        _ = try await ask("registerClient", values, unless: "client-exists")
    }

    /// What a client for phones has beside its name.
    static let forPhones: JSONObject = [
        "client_name": "Demo app for phones", "application_type": "native",
        "token_endpoint_auth_method": "none",
        "grant_types": [
            "urn:cocoar:otp", "urn:cocoar:magic", "urn:cocoar:passkey", "refresh_token",
        ],
        "scope": "openid profile email offline_access",
        // Ten times cheaper to make than RS256, for clients that refresh often.
        "id_token_signed_response_alg": "ES256",
    ]

    private func isValid(_ key: String) async throws -> Bool {
        guard let known = BearerKey(key) else { return false }
        let found = try await ask(
            "getAdminKey", ["key_id": .string(known.id.description)], unless: "no-such-key")
        return found?["revoked_at"]?.isNull ?? false
    }

    /// - Parameter atFirst: settings that a developer may change: they are set when the realm is made, and never again.
    func prepareRealm(
        _ realm: String, _ name: String, at host: String, _ settings: JSONObject,
        atFirst: JSONObject
    ) async throws {
        let made = try await ask(
            "createRealm", ["realm": .string(realm), "display_name": .string(name)],
            unless: "realm-exists")
        _ = try await ask(
            "assignHost", ["realm": .string(realm), "host": .string(host)], unless: "host-taken")
        var settings = settings
        settings["realm"] = .string(realm)
        if made != nil { settings.merge(atFirst) { $1 } }
        _ = try await ask("setRealmSettings", settings)
    }

    func response(of id: String, _ values: JSONObject) async -> Response {
        guard let operation = API.operations.first(where: { $0.id == id }) else {
            preconditionFailure("The demo asks for operations that there are.")
        }
        return await router.respond(to: operation.request(values, id: "dev"))
    }

    /// The answer of an operation; nil where it refuses for the one reason that is expected.
    func ask(
        _ id: String, _ values: JSONObject, unless expected: String? = nil
    ) async throws -> JSON? {
        let response = await response(of: id, values)
        let answer = (try? JSON.parse(response.body)) ?? .null
        if response.status.code < 300 { return answer }
        let type = answer["type"]?.string ?? ""
        if let expected, type.hasSuffix("/\(expected)") { return nil }
        throw CommandFailure(
            "The demo data could not be made (\(id)): "
                + (answer["detail"]?.string ?? answer["title"]?.string ?? "no answer"))
    }
}
