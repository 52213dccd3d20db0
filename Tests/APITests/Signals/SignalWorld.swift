import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

/// A client that receives the security signals of a realm.
struct SignalWorld: Sendable {
    let world: SignInWorld
    let clientID: String
    let token: String

    init(
        _ world: SignInWorld, clientID: String = "siem",
        scope: String = "ssf.read ssf.manage", metadata: JSONObject = [:]
    ) async throws {
        self.world = world
        self.clientID = clientID
        let usual: JSONObject = [
            "grant_types": ["client_credentials"], "scope": .string(scope),
        ]
        try await world.register(
            clientID, usual.merging(metadata) { _, own in own }, secret: "hush")
        let answer = try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials"), ("scope", scope)],
            basic: "\(clientID):hush")
        token = try #require(answer.json["access_token"]?.string)
    }

    func call(
        _ method: Method, _ path: String, query: String? = nil, _ body: JSON? = nil,
        token: String? = nil
    ) async throws -> Answered {
        var headers: Headers = [
            "Host": "id.acme.example", "Authorization": "Bearer \(token ?? self.token)",
        ]
        if body != nil { headers["Content-Type"] = "application/json" }
        return try await world.send(
            Request(
                method: method, path: path, query: query, headers: headers,
                body: body?.canonical() ?? [], source: "203.0.113.7", id: "request-30"))
    }

    func create(_ body: JSON = [:]) async throws -> String {
        let answer = try await call(.post, "/ssf/streams", body)
        #expect(answer.status == .created)
        return try #require(answer.json["stream_id"]?.string)
    }

    func poll(_ stream: String, _ more: JSONObject = [:]) async throws -> [String: String] {
        var body: JSONObject = ["returnImmediately": true]
        for (name, value) in more { body[name] = value }
        let answer = try await call(.post, "/ssf/poll/\(stream)", .object(body))
        #expect(answer.status == .ok)
        var sets: [String: String] = [:]
        for (name, value) in answer.json["sets"]?.object ?? [:] { sets[name] = value.string }
        return sets
    }

    /// The claims of all that there is, which is confirmed.
    func take(_ stream: String) async throws -> [JSONObject] {
        let sets = try await poll(stream)
        let names = sets.keys.sorted()
        _ = try await poll(
            stream, ["maxEvents": 0, "ack": .array(names.map { .string($0) })])
        return try sets.sorted { $0.key < $1.key }.map { try JWTWorld.claims($0.value) }
    }

    func set(_ status: String, _ stream: String) async throws {
        let answer = try await call(
            .post, "/ssf/status", ["stream_id": .string(stream), "status": .string(status)])
        #expect(answer.status == .ok)
        #expect(answer.json["status"]?.string == status)
    }

    /// A session of an account that is there for it alone.
    func session(of account: UUID) async throws -> UUID {
        let id = UUID.random()
        let now = world.clock.next()
        let terms = SessionTerms(
            account: account, stamp: 0, client: UUID.random(), clientID: "phone", app: nil,
            scope: ["openid"], resources: [], factors: [.mailedCode], openedAt: now,
            expiresAt: now.adding(seconds: 3_600), isOffline: false, from: SignInPlace(),
            method: .nativeOTP)
        try await happen(SessionEvent.opened(terms), in: id, of: account)
        return id
    }

    func end(_ session: UUID, of account: UUID) async throws {
        try await happen(SessionEvent.ended(.loggedOut, notice: nil), in: session, of: account)
    }

    func happen(_ event: some Event, in stream: UUID, of subject: UUID? = nil) async throws {
        let known = try await world.log.stream(stream, after: 0, in: world.realm).count
        _ = try await world.log.append(
            Commit(
                realm: world.realm, command: UUID.random(),
                origin: Origin(actor: "user:test", at: world.clock.next()),
                reads: [stream: known], events: [NewEvent(event, in: stream, of: subject)]))
    }

    static func kinds(_ signals: [JSONObject]) -> [String] {
        let types = signals.compactMap { $0["events"]?.object }.map { Array($0.keys) }
        return types.joined().map {
            $0.split(separator: "/").last.map(String.init) ?? ""
        }.sorted()
    }
}
