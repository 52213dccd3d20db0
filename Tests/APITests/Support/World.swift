import Cryptography
import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
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
    let lines = Lines()
    /// The subjects whose keys were destroyed.
    let destroyed = Destroyed()
    /// Opens every realm.
    let key: BearerKey
    /// Opens `acme` alone.
    let narrowKey: BearerKey
    let revokedKey: BearerKey
    /// What stands for each parameter of a path.
    private(set) var names: [String: String] = [
        "realm": "acme", "host": "id.acme.example", "position": "1", "level": "0", "index": "0",
        "problem": "busy", "subject": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a77",
    ]
    private let clock = Clock()

    static let derivationKey = HMACKey(Random.bytes(32))

    init() async throws {
        let clock = clock
        let dispatcher = Dispatcher(log: log)
        let destroyed = destroyed
        let context = AdminContext(
            commands: dispatcher, queries: MemoryQueries(log: log),
            deriveSecret: { realm, command, purpose in
                World.derivationKey.authenticate(
                    Array("\(realm)|\(purpose)|".utf8) + command.bytes)
            },
            now: { clock.next() },
            destroyKey: { _, subject throws(LogFailure) in destroyed.add(subject) },
            mint: { _ in
                TokenMint { purpose, bytes in
                    World.derivationKey.authenticate(Array("\(purpose)|".utf8) + bytes)
                }
            },
            makeSigningKey: { try SigningKey.generate($0) })
        let lines = lines
        router = Router(
            API.table, context: context,
            log: Log(sink: Log.Sink { line, _ in lines.add(line) }, now: { clock.next() }),
            metrics: metrics)
        var keys: [BearerKey] = []
        let acme = try #require(RealmID("acme"))
        for (name, scope) in [("all", AdminScope.all), ("acme", .only([acme])), ("old", .all)] {
            var random = SystemRandom()
            let key = BearerKey(
                id: .v7(at: clock.next(), using: &random), secret: Random.bytes(32))
            let digest = try #require(SecretDigest(key.digest))
            _ = try await dispatcher.dispatch(
                CreateAdminKey(id: key.id, name: name, digest: digest, scope: scope),
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
        let client = try await make(
            "/api/admin/realms/acme/clients",
            ["client_name": "Desk", "redirect_uris": ["https://desk.acme.example/back"]])
        names["client_id"] = try #require(client.json["client_id"]?.string)
        let invites = try await make("/api/admin/realms/acme/invites", ["count": 1])
        names["invite_id"] = try #require(invites.json["items"]?.array?.first?["id"]?.string)
        let revoked = try await send(.post, "/api/admin/keys/\(revokedKey.id)/revoke")
        #expect(revoked.status == .ok)
    }

    @discardableResult
    func make(_ path: String, _ body: JSON) async throws -> Answered {
        let answer = try await send(.post, path, body: body)
        #expect(answer.status == .created)
        return answer
    }

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
        try answer.check(against: API.table, request)
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

    func pass(seconds: Int64) { now.withLock { $0 += seconds * 1_000_000 } }
}

/// Subjects, in the order in which their keys were destroyed.
final class Destroyed: Sendable {
    private let subjects = Mutex<[UUID]>([])

    func add(_ subject: UUID) { subjects.withLock { $0.append(subject) } }

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
