import Cryptography
import EventSourcing
import EventStore
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

/// The admin API over a log in memory, with one realm, `acme`, and one thing of each kind in it.
/// Every answer is checked against what the table says of its route.
struct World {
    let log = WatchedLog()
    let router: Router
    let metrics = Metrics()
    let feeds: Feeds
    let feedCursors: MemoryFeedCursors
    let cases: MemoryCaseFiles
    let asOfBuilds = MemoryAsOfBuilds()
    /// Makes the case files that were asked for.
    let caseRun: CaseRun
    let whatIfs: MemoryWhatIfs
    let lines = Lines()
    /// The subjects whose keys were destroyed.
    let destroyed = Destroyed()
    /// Opens every realm.
    let key: BearerKey
    /// Opens `acme` alone.
    let narrowKey: BearerKey
    let revokedKey: BearerKey
    /// What stands for each parameter of a path.
    var names: [String: String] = [
        "type": "session.ended", "revision": "1",
        "realm": "acme", "host": "id.acme.example", "position": "1", "level": "0", "index": "0",
        "channel": "sms",
        "problem": "busy", "subject": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a77",
        "provider": "corporate", "moment": "2099-01-01T00:00:00Z", "from": "1",
        "to": "2099-01-01",
    ]
    private let clock = Clock()

    /// Stands for the subject of what is nobody's in a month.
    static let shared = UUID(high: 0x0193_a0e7_5e0c_8000, low: 0x9000_0000_0000_00ff)

    let derivedKeys = DerivedKeys()

    init() async throws {
        let clock = clock
        let dispatcher = Dispatcher(log: log)
        let feeds = Feeds(EventRings(log, hub: log.hub), metrics: metrics)
        self.feeds = feeds
        let feedCursors = MemoryFeedCursors(log: log)
        self.feedCursors = feedCursors
        let cases = MemoryCaseFiles(log: log)
        self.cases = cases
        caseRun = CaseRun(
            commands: dispatcher, queries: MemoryQueries(log: log), cases: cases,
            now: { clock.next() }, maker: .random())
        let whatIfs = MemoryWhatIfs(log: log)
        self.whatIfs = whatIfs
        let destroyed = destroyed
        let derivedKeys = derivedKeys
        let context = AdminContext(
            commands: dispatcher, queries: MemoryQueries(log: log), proofs: MemoryQueries(log: log),
            feeds: feeds, now: { clock.next() }, passed: { .zero },
            standing: { [log] realm, subject throws(LogFailure) in
                if subject == World.shared { return .shared }
                let events = try await log.events(from: 1, limit: .max, in: realm)
                return events.contains { $0.subject == subject && $0.personal != .none }
                    ? .own : .unknown
            },
            destroyKey: { _, subject throws(LogFailure) in try destroyed.add(subject) },
            makeSigningKey: { try SigningKey.pooled($0) },
            mint: { _ throws(LogFailure) in derivedKeys.mint },
            upstream: Upstream(calls: StandIn.usual.calls), feedCursors: feedCursors,
            cases: cases, whatIfs: whatIfs, asOfBuilds: asOfBuilds)
        let lines = lines
        router = Router(
            [Router.Table(API.table, context: context)],
            log: Log(sink: Log.Sink { line, _ in lines.add(line) }, now: { clock.next() }),
            metrics: metrics, pages: Router.Pages(voice: .page) { _ in nil })
        var keys: [BearerKey] = []
        let acme = try #require(RealmID("acme"))
        for (name, scope) in [("all", AdminScope.all), ("acme", .only([acme])), ("old", .all)] {
            var random = SystemRandom()
            let key = BearerKey(
                id: .v7(at: clock.next(), using: &random), secret: Random.bytes(32))
            let digest = try #require(SecretDigest(key.digest(limitedTo: .all)))
            _ = try await dispatcher.dispatch(
                AdminKeyChange.create(key.id, name: name, digest: digest, scope: scope),
                in: .system, id: .v7(at: clock.next(), using: &random),
                origin: Origin(actor: "system", at: clock.next()))
            keys.append(key)
        }
        (key, narrowKey, revokedKey) = (keys[0], keys[1], keys[2])
        names["key_id"] = narrowKey.id.description
        try await furnish()
    }

    private mutating func furnish() async throws {
        try await make("/api/admin/realms", ["realm": "acme", "display_name": "Acme"])
        try await make("/api/admin/realms/acme/hosts", ["host": "id.acme.example"])
        let app = try await make(
            "/api/admin/realms/acme/apps", ["slug": "desk", "name": "Help desk"])
        names["app_id"] = try #require(app.json["id"]?.string)
        let webApp = try await make(
            "/api/admin/realms/acme/web-apps",
            ["kind": "konnector", "slug": "bank", "name": "Bank"])
        names["web_app_id"] = try #require(webApp.json["id"]?.string)
        let installation = UUID.random()
        names["installation"] = Installation.clientID(of: installation)
        let phone = try #require(
            ClientMetadata(recorded: ["client_name": "Phone", "grant_types": ["urn:urd:flagship"]]))
        try await happen(
            Client.self,
            .registered(
                clientID: Installation.clientID(of: installation), metadata: phone,
                secret: nil), in: installation)
        let client = try await make(
            "/api/admin/realms/acme/clients",
            ["client_name": "Desk", "redirect_uris": ["https://desk.acme.example/back"]])
        names["client_id"] = try #require(client.json["client_id"]?.string)
        let invites = try await make("/api/admin/realms/acme/invites", ["count": 1])
        names["invite_id"] = try #require(invites.json["items"]?.array?.first?["id"]?.string)
        let token = try await make(
            "/api/admin/realms/acme/registration-tokens", ["label": "Partners"])
        names["token_id"] = try #require(token.json["id"]?.string)
        let webhook = try await make(
            "/api/admin/realms/acme/webhooks",
            ["url": "https://crm.example.org/urd", "name": "CRM", "to": "internal"])
        let subscription = try await make(
            "/api/admin/realms/acme/subscriptions", ["name": "Search index"])
        let made = try #require(subscription.json["id"]?.string)
        names["subscription_id"] = made
        // Its reader was there, and has confirmed nothing.
        let lease = FeedLeaseName(
            try #require(RealmID("acme")), try #require(UUID(made)), reader: .random())
        _ = try await feedCursors.claim(lease, from: .start, takingOver: false)
        try await feedCursors.release(lease)
        names["webhook_id"] = try #require(webhook.json["id"]?.string)
        try await furnishPeople()
        names["rule"] = FindingRule.bruteForce.rawValue
        names["finding_id"] = try await furnishFinding().description
        let revoked = try await send(.post, "/api/admin/keys/\(revokedKey.id)/revoke")
        #expect(revoked.status == .ok)
    }

    /// Somebody who is signed in, and a mail that did not get through.
    private mutating func furnishPeople() async throws {
        let account = try await make(
            "/api/admin/realms/acme/accounts",
            ["email": "eve@acme.example", "first_name": "Eve", "confirmed": true])
        let id = try #require(account.json["id"]?.string)
        names["account_id"] = id
        try await somethingSealed(under: try #require(names["subject"].flatMap { UUID($0) }))
        let (session, mail) = (UUID.random(), UUID.random())
        names["session_id"] = session.description
        names["mail_id"] = mail.description
        try await happen(
            Owner.self, .appointed(try #require(UUID(id)), token: UUID.random()), in: Owner.stream)
        try await happen(Session.self, .opened(terms(of: UUID(id))), in: session)
        let provider = "/api/admin/realms/acme/providers/corporate"
        let configured = try await send(
            .put, provider,
            body: [
                "name": "Corporate account", "issuer": .string(StandIn.issuer),
                "client_id": "urd", "client_secret": "a secret there",
            ])
        #expect(configured.status == .ok)
        let linked = try await send(
            .put, "\(provider)/accounts/\(id)", body: ["subject": "248289761001"])
        #expect(linked.status == .noContent)
        try await happen(Mail.self, .failed(attempt: 1, code: 550), in: mail)
        names["case_id"] = try await caseFile(about: id)
        names["what_if_id"] = try await whatIf()
        names["build_id"] = try await asOfBuild()
        try await furnishNotifications(UUID(id) ?? .zero)
    }

    /// One that is ready.
    func caseFile(about account: String, open: Bool = false, key: BearerKey? = nil) async throws
        -> String
    {
        let asked = try await send(
            .post, "/api/admin/realms/acme/cases",
            body: [
                "about": ["kind": "account", "id": .string(account)], "open": .bool(open),
                "reason": "Incident 4711",
            ], key: key)
        let id = try #require(asked.json["id"]?.string)
        let acme = try #require(RealmID("acme"))
        let job = try #require(UUID(id).flatMap { cases.job($0, in: acme) })
        try await caseRun.make(job)
        return id
    }

    /// A notification that reached nobody, and a provider.
    private mutating func furnishNotifications(_ account: UUID) async throws {
        let notification = UUID.random()
        names["notification_id"] = notification.description
        let terms = NotificationTerms(
            source: UUID.random(), account: account, originator: "oauth", sender: UUID.random(),
            slug: nil, category: "news", priority: .normal, channels: [.mobile, .mail],
            isCollapsible: false, due: clock.next())
        let kind = Notification.self
        try await happen(
            kind, .requested(terms, NotificationContent(title: "News")), in: notification)
        try await happen(kind, .failed(attempt: 1, .notTaken, code: 404), in: notification)
        for provider in [
            PushProvider.apple(
                AppleProvider(team: "TEAM", keyID: "KEY", privateKey: "AAAA", topic: "org.example")),
            .firebase(
                FirebaseProvider(
                    project: "demo", email: "push@demo.example", keyID: "k1",
                    privateKey: "AAAA")),
        ] {
            try await happen(PushProviders.self, .set(provider), in: PushProviders.stream)
        }
        let gateway = MessageGateway(
            kind: .webhook, address: "https://sms.example.org", secret: "AAAA")
        try await happen(
            MessageGateways.self, .set(.sms, gateway), in: MessageGateways.stream)
    }

    /// A route's example, with a key where one has to be.
    func example(of route: Route<AdminContext>) throws -> JSON? {
        if route.id == "acknowledgeEvents" { return ["cursor": "0:0"] }
        guard let example = route.body?.example else { return nil }
        func pem(_ algorithm: SigningAlgorithm) throws -> String {
            try PushStandIn.pem(try SigningKey.pooled(algorithm))
        }
        switch route.id {
        case "setFirebaseProvider":
            var members = example["service_account"]?.object ?? [:]
            members["private_key"] = .string(try pem(.rs256))
            return ["service_account": .object(members)]
        case "setAppleProvider":
            var members = example.object ?? [:]
            members["private_key"] = .string(try pem(.es256))
            return .object(members)
        case "createCaseFile":
            var members = example.object ?? [:]
            members["about"] = ["kind": "account", "id": .string(names["account_id"] ?? "")]
            return .object(members)
        case "createAdminKey": return ["name": "deployment", "realms": ["acme"]]
        // The realm knows no roles.
        case "setAccountRoles": return ["roles": [:]]
        default: return example
        }
    }

    func terms(of account: UUID?, client: String? = nil) -> SessionTerms {
        SessionTerms(
            account: account, stamp: 0, client: UUID.zero,
            clientID: client ?? names["client_id"] ?? "", app: nil, scope: ["openid"],
            resources: [], factors: [.mailedCode], openedAt: clock.next(),
            expiresAt: clock.next().adding(seconds: 86_400), isOffline: true,
            from: SignInPlace(source: "network", device: "iPhone"), method: .nativeOTP)
    }

    /// Something personal, of whom nothing else is known.
    func somethingSealed(under subject: UUID) async throws {
        try await happen(Device.self, .denied(account: subject), in: UUID.random())
    }

    /// Puts something on record that the admin API does not do.
    func happen<State: StreamState>(
        _ type: State.Type, _ event: State.Event, in stream: UUID, of realm: RealmID? = nil
    ) async throws {
        _ = try await Dispatcher(log: log).dispatch(
            Happening<State>(event: event, stream: stream),
            in: try realm ?? #require(RealmID("acme")), id: UUID.random(),
            origin: Origin(
                actor: "client:desk", address: "203.0.113.9", userAgent: "Eve's phone",
                at: clock.next()))
    }

    /// A key of all realms that can do what these permit.
    func limitedKey(_ permissions: [AdminPermission]) async throws -> BearerKey {
        let made = try await make(
            "/api/admin/keys",
            [
                "name": "limited",
                "permissions": .array(permissions.map { .string($0.rawValue) }),
            ])
        return try #require(made.json["key"]?.string.flatMap { BearerKey($0) })
    }

    @discardableResult
    func make(_ path: String, _ body: JSON) async throws -> Answered {
        let answer = try await send(.post, path, body: body)
        #expect(answer.status == .created)
        return answer
    }

    /// Lets time pass for all that looks at the clock.
    func pass(seconds: Int64) { clock.now.withLock { $0 += seconds * 1_000_000 } }

    /// The path of a route, with the names of this world in it.
    func path(_ route: Route<AdminContext>) -> String {
        let segments = route.path.segments.map { segment in
            switch segment {
            case .literal(let text): text
            case .parameter(let name): names[name] ?? "missing"
            }
        }
        return "/" + segments.joined(separator: "/")
    }

    func send(
        _ method: Method, _ path: String, query: String? = nil, body: JSON? = nil,
        key: BearerKey? = nil, idempotencyKey: String? = nil
    ) async throws -> Answered {
        var headers: Headers = ["Authorization": "Bearer \((key ?? self.key).text)"]
        if body != nil { headers["Content-Type"] = "application/json" }
        headers["Idempotency-Key"] = idempotencyKey
        return try await send(
            Request(
                method: method, path: path, query: query, headers: headers,
                body: body?.canonical() ?? [], source: "203.0.113.7", id: "request-1"))
    }

    func send(_ request: Request) async throws -> Answered {
        let answer = Answered(await router.respond(to: request))
        try answer.checkAsPromised(request)
        return answer
    }
}

/// Every look at it is a millisecond later.
final class Clock: Sendable {
    let now = Mutex<Int64>(1_795_224_225_000_000)

    func next() -> Timestamp {
        now.withLock {
            $0 += 1000
            return Timestamp(microseconds: $0)
        }
    }

    func advance(seconds: Int64) { now.withLock { $0 += seconds * 1_000_000 } }
}

/// Subjects, in the order in which their keys were destroyed.
final class Destroyed: Sendable {
    private let subjects = Mutex<[UUID]>([])
    private let failures = Mutex(0)

    func add(_ subject: UUID) throws(LogFailure) {
        let fails = failures.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        if fails { throw .unavailable }
        subjects.withLock { $0.append(subject) }
    }

    /// The next ones are not.
    func fail(_ times: Int) { failures.withLock { $0 = times } }

    var all: [UUID] { subjects.withLock { $0 } }
}

/// Log lines as they were written.
final class Lines: Sendable {
    private let written = Mutex<[[UInt8]]>([])

    func add(_ line: [UInt8]) { written.withLock { $0.append(line) } }

    var all: [String] {
        written.withLock { $0.map { String(decoding: $0, as: UTF8.self) } }
    }
}

/// Events of a stream, as they are.
struct Happening<State: StreamState>: Command {
    enum Rejection: Error, Equatable, Sendable {}

    let event: State.Event
    let stream: UUID

    func gather(_ streams: some StreamReader) async throws(LogFailure) {
        _ = try await streams.read(State.self, stream)
    }

    func decide(_ facts: Void) throws(Rejection) -> Decision { Decision(event, in: stream) }
}
