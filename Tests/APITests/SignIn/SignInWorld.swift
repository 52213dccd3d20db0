import Cryptography
import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import ReadModels
import Synchronization
import Telemetry
import Testing
import Values

@testable import API

/// A realm that signs people in, over a log in memory: a phone app, and a service that keeps a
/// secret. Every answer is checked against what the table says of its route.
struct SignInWorld {
    let log = WatchedLog()
    let directory: HostDirectory
    let realm: RealmID
    private let firstNode: Router
    /// Where requests go instead, while this is set.
    @TaskLocal static var otherNode: Router?
    var router: Router { Self.otherNode ?? firstNode }
    let derivedKeys = DerivedKeys()
    let clock = Clock()
    /// Who is signed in in which browser, by what the browser shows.
    let browsers = Browsers()
    let contexts: RealmContexts
    let feeds: Feeds
    static let secret = "a secret of the service"

    /// `isDeaf`: this node never hears of what changes in the realm.
    init(
        _ settings: JSONObject = ["registration": "jit_on_otp"], isDeaf: Bool = false,
        forwarding: Forwarding = Forwarding(),
        fetchKeys: @escaping RemoteKeys.Fetch = { _ in nil },
        callProviders: UpstreamCalls = .none, passphrases: PassphraseWork = .cheap,
        applicationRequests: any ApplicationRequests = SealedRequests(),
        locate: RealmContext.Locate? = nil
    ) async throws {
        realm = try #require(RealmID("acme"))
        let (log, clock) = (log, clock)
        directory = HostDirectory { isDeaf ? 0 : log.revision }
        let derivedKeys = derivedKeys
        let all = settings.merging(["native_grants": true]) { own, _ in own }
        directory.add(realm, hosts: ["id.acme.example"], all)
        let dispatcher = Dispatcher(log: log)
        let feeds = Feeds(EventRings(log, hub: log.hub), metrics: Metrics())
        self.feeds = feeds
        let realmClock = RealmContext.Clock(
            now: { clock.next() }, passed: { .seconds(clock.next().seconds) }, hesitate: { _ in })
        let contexts = RealmContexts(
            places: Places(directory, forwarding: forwarding), mint: { _ in derivedKeys.mint },
            keys: TokenKeys(
                commands: dispatcher, clock: realmClock,
                revision: { _ in isDeaf ? 0 : log.revision },
                generate: { try SigningKey.pooled($0) }),
            commands: dispatcher, queries: MemoryQueries(log: log), clock: realmClock,
            fetchKeys: fetchKeys, callProviders: callProviders,
            passphrases: passphrases, locate: locate ?? { _ in knownPlace })
        log.isPlaced = locate == nil
        self.contexts = contexts
        var services = API.Services()
        services.feeds = feeds
        services.signals = SignalPages(log)
        services.registry = ServiceRegistry(
            MemoryQueries(log: log), revision: { _ in log.revision }, passed: realmClock.passed,
            fetch: { _ in nil })
        services.webhooks = WebhookSource(
            keys: WebhookKeys(
                commands: dispatcher, clock: realmClock, revision: { _ in log.revision }),
            networks: [])
        services.logos = ClientLogos(passed: realmClock.passed, fetch: fetchKeys)
        firstNode = Router(
            API(services).tables(of: contexts, applicationRequests: applicationRequests)
                + [Router.Table([Self.firstPage], context: AssetContext())],
            log: .silent, metrics: Metrics(),
            lead: { await contexts.led($0) },
            pages: contexts.pages)
        try await carryOut(RealmChange.create(displayName: "Acme"), dispatcher)
        try await carryOut(RealmChange.setSettings(all), dispatcher)
        try await carryOut(
            RegisterClient(
                id: UUID.random(), clientID: "phone",
                metadata: [
                    "token_endpoint_auth_method": "none", "application_type": "native",
                    "grant_types": ["urn:cocoar:otp", "urn:cocoar:magic", "refresh_token"],
                ]), dispatcher)
        let digest = try #require(SecretDigest(SHA256.hash(Array(Self.secret.utf8))))
        try await carryOut(
            RegisterClient(
                id: UUID.random(), clientID: "service",
                metadata: [
                    "grant_types": ["client_credentials"], "scope": "jobs",
                    "introspects_all_tokens": true,
                ],
                secret: digest), dispatcher)
    }

    /// What the realm's secrets follow from now.
    var mint: TokenMint { derivedKeys.mint }

    /// The server's own first page, for hosts that lead on to none: here it is nothing.
    private static let firstPage = Route<AssetContext>(
        .get, "/", id: "firstPage", tag: "About", summary: "Nothing.", right: .nothing,
        answer: Answer(status: .ok, description: "Never given.", content: .nothing),
        traits: .isFirstPage
    ) { _ throws(Problem) in throw Problem(.noSuchRoute) }

    func carryOut(_ command: some Command, _ dispatcher: Dispatcher<WatchedLog>) async throws {
        _ = try await dispatcher.dispatch(
            command, in: realm, id: UUID.random(),
            origin: Origin(actor: "system", at: clock.next()))
    }

    func carryOut(_ command: some Command) async throws {
        try await carryOut(command, Dispatcher(log: log))
    }

    private static let routes = RouteTree(API.realmTable + API.flagshipTable)

    func send(_ request: Request) async throws -> Answered {
        let answer = Answered(await router.respond(to: request))
        let route = Self.routes.find(request.path)?.route(for: request.method)
        let isJSON = answer.response.headers["Content-Type"] == "application/json"
        if answer.status == route?.answer.status, isJSON,
            case .json(let schema, _)? = route?.answer.content
        {
            do {
                try schema.check(answer.json)
            } catch {
                Issue.record("\(request.path) is not answered as documented: \(error)")
            }
        }
        #expect(answer.response.headers["Set-Cookie"] == nil)
        let isPublic = request.path.hasPrefix("/.well-known/") && answer.status == .ok
        #expect(
            answer.response.headers["Cache-Control"]
                == (isPublic ? "public, max-age=300" : "no-store"))
        return answer
    }

    func post(
        _ path: String, form: [(name: String, value: String)], basic: String? = nil
    ) async throws -> Answered {
        var headers: Headers = [
            "Host": "id.acme.example", "Content-Type": "application/x-www-form-urlencoded",
        ]
        headers["Authorization"] = basic.map { "Basic \(Base64.encode(Array($0.utf8)))" }
        return try await send(
            Request(
                method: .post, path: path, query: nil, headers: headers,
                body: Array(Form.encode(form).utf8), source: "203.0.113.7", id: "request-1"))
    }

    func requestCode(_ members: JSONObject) async throws -> Answered {
        try await post("/api/account/native/otp/request", json: members)
    }

    func post(_ path: String, json members: JSONObject) async throws -> Answered {
        try await send(
            Request(
                method: .post, path: path, query: nil,
                headers: ["Host": "id.acme.example", "Content-Type": "application/json"],
                body: JSON.object(members).canonical(), source: "203.0.113.7", id: "request-2"))
    }

    func userInfo(_ token: String) async throws -> Answered {
        try await send(
            Request(
                method: .get, path: "/connect/userinfo", query: nil,
                headers: ["Host": "id.acme.example", "Authorization": "Bearer \(token)"],
                body: [], source: "203.0.113.7", id: "request-3"))
    }

    func introspect(_ token: String) async throws -> JSON {
        let answer = try await post(
            "/connect/introspect", form: [("token", token)],
            basic: "service:\(Self.secret)"
                .replacing(" ", with: "+"))
        #expect(answer.status == .ok)
        return answer.json
    }

    func redeem(_ code: String, scope: String = "openid email offline_access") async throws
        -> Answered
    {
        try await post(
            "/connect/token",
            form: [
                ("grant_type", "urn:cocoar:otp"), ("client_id", "phone"),
                ("username", "Ann@Example.org"), ("otp_code", code), ("scope", scope),
            ])
    }

    /// The code that the last mail would bring.
    func mailedCode() async throws -> String {
        let events = try await log.events(from: 1, limit: .max, in: realm)
        let issued = try #require(events.last { $0.name == "otp.issued" })
        return mint.code(
            try #require(
                (issued.open["repeats"] ?? issued.open["otp"])?.string.flatMap { UUID($0) }))
    }

    func events() async throws -> [String] {
        try await log.events(from: 1, limit: .max, in: realm).map(\.name)
    }
}
