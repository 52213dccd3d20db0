import Cryptography
import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Synchronization
import Testing
import Values

@testable import API

/// What stands for Google and Apple: it takes messages from whoever shows a token that is signed with
/// the right key, and keeps them.
final class PushStandIn: Sendable {
    struct Taken: Sendable {
        let token: String
        let headers: [String: String]
        let body: JSON
        let size: Int
    }

    private struct State {
        var taken: [Taken] = []
        var answers: [String: ProviderAnswer] = [:]
        var tokenCalls = 0
        var refusesOldTokens = false
        var isDown = false
    }

    private let state = Mutex(State())
    let google: SigningKey
    let apple: SigningKey
    let clock: Clock

    init(_ clock: Clock) throws {
        google = try SigningKey.pooled(.rs256, id: "k1")
        apple = try SigningKey.pooled(.es256, id: "KEY0000001")
        self.clock = clock
    }

    static func pem(_ key: SigningKey) throws -> String {
        let text = Base64.encode(try key.pkcs8().exposedCopy())
        return "-----BEGIN PRIVATE KEY-----\n\(text)\n-----END PRIVATE KEY-----\n"
    }

    func providers() throws -> [PushProvider] {
        [
            .firebase(
                FirebaseProvider(
                    project: "demo-1", email: "push@demo.iam.gserviceaccount.com", keyID: "k1",
                    privateKey: Base64URL.encode(try google.pkcs8().exposedCopy()))),
            .apple(
                AppleProvider(
                    team: "TEAM000001", keyID: "KEY0000001",
                    privateKey: Base64URL.encode(try apple.pkcs8().exposedCopy()),
                    topic: "io.example.flagship")),
        ]
    }

    var taken: [Taken] { state.withLock { $0.taken } }
    var tokenCalls: Int { state.withLock { $0.tokenCalls } }

    func answer(_ token: String, _ status: Int, _ body: JSON = [:], after: Int64? = nil) {
        state.withLock {
            $0.answers[token] = .answered(
                status: status, body: body.canonical(), retryAfter: after)
        }
    }

    func answer(_ token: String, _ answer: ProviderAnswer) {
        state.withLock { $0.answers[token] = answer }
    }

    func refuseOldTokens() { state.withLock { $0.refusesOldTokens = true } }

    func forget() { state.withLock { $0.taken = [] } }

    static let unregistered: JSON = [
        "error": [
            "code": 404, "status": "NOT_FOUND",
            "details": [
                [
                    "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
                    "errorCode": "UNREGISTERED",
                ]
            ],
        ]
    ]

    func respond(_ call: ProviderCall) -> ProviderAnswer {
        let place = URLParts.parse(call.address)
        switch (place?.host, place?.path) {
        case ("oauth2.googleapis.com", "/token"): return token(call)
        case ("fcm.googleapis.com", "/v1/projects/demo-1/messages:send"): return firebase(call)
        case ("api.push.apple.com", let path?): return apple(call, path)
        default:
            Issue.record("Nobody is at \(call.address).")
            return .unreachable
        }
    }

    private func header(_ name: String, _ call: ProviderCall) -> String? {
        let found = call.headers.filter { $0.name.lowercased() == name }
        #expect(found.count < 2)
        return found.first?.value
    }

    private func claims(_ text: String, _ key: SigningKey) -> JSON? {
        let rules = JWS.Rules(types: TokenTypes(["JWT"], mayBeAbsent: true))
        guard
            let message = try? JWS.verify(text, by: KeySet([key.verificationKey]), rules: rules),
            message.keyID == key.id
        else { return nil }
        return try? JSON.parse(message.payload)
    }

    private func token(_ call: ProviderCall) -> ProviderAnswer {
        let pairs = Form.parse(call.body) ?? []
        func value(_ name: String) -> String { pairs.first { $0.name == name }?.value ?? "" }
        let now = clock.next().seconds
        guard value("grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer",
            let claims = claims(value("assertion"), google),
            claims["iss"] == "push@demo.iam.gserviceaccount.com",
            claims["aud"] == "https://oauth2.googleapis.com/token",
            claims["scope"] == "https://www.googleapis.com/auth/firebase.messaging",
            let issued = claims["iat"]?.integer, abs(issued - now) < 60,
            claims["exp"] == .integer(issued + 3_600)
        else {
            return .answered(status: 400, body: Array(#"{"error":"x"}"#.utf8), retryAfter: nil)
        }
        let number = state.withLock { state in
            state.tokenCalls += 1
            return state.tokenCalls
        }
        let body: JSON = [
            "access_token": .string("at-\(number)"), "expires_in": 3_599,
            "token_type": "Bearer",
        ]
        return .answered(status: 200, body: body.canonical(), retryAfter: nil)
    }

    private func firebase(_ call: ProviderCall) -> ProviderAnswer {
        let (newest, isStrict) = state.withLock { ($0.tokenCalls, $0.refusesOldTokens) }
        let shown = header("authorization", call)
        guard newest > 0, shown == "Bearer at-\(newest)", !isStrict || newest > 1 else {
            return .answered(status: 401, body: [], retryAfter: nil)
        }
        let body = (try? JSON.parse(call.body)) ?? .null
        let token = body["message"]?["token"]?.string ?? ""
        #expect(body["message"]?["data"]?.object?.values.allSatisfy { $0.string != nil } == true)
        return take(call, token, body, call.body.count - token.utf8.count)
    }

    private func apple(_ call: ProviderCall, _ path: String) -> ProviderAnswer {
        guard path.hasPrefix("/3/device/"),
            let shown = header("authorization", call), shown.hasPrefix("bearer "),
            let claims = claims(String(shown.unicodeScalars.dropFirst(7)), apple),
            claims["iss"] == "TEAM000001", claims["iat"]?.integer != nil
        else {
            return .answered(
                status: 403, body: Array(#"{"reason":"InvalidProviderToken"}"#.utf8),
                retryAfter: nil)
        }
        #expect(header("apns-topic", call) == "io.example.flagship")
        #expect(header("apns-push-type", call) == "alert")
        let token = String(path.unicodeScalars.dropFirst(10))
        return take(call, token, (try? JSON.parse(call.body)) ?? .null, call.body.count)
    }

    private func take(
        _ call: ProviderCall, _ token: String, _ body: JSON, _ size: Int
    ) -> ProviderAnswer {
        #expect(size <= 4_096)
        return state.withLock { state in
            let answer =
                state.answers[token] ?? .answered(status: 200, body: [], retryAfter: nil)
            if case .answered(200, _, _) = answer {
                let headers = call.headers.map { ($0.name.lowercased(), $0.value) }
                state.taken.append(
                    Taken(
                        token: token,
                        headers: Dictionary(headers, uniquingKeysWith: { first, _ in first }),
                        body: body, size: size))
            }
            return answer
        }
    }
}

/// An owner with devices, and somebody who brings notifications to them.
struct NotifiedWorld {
    let world: FlagshipWorld
    let sender: TestInstallation
    let access: String
    let providers: PushStandIn
    let courier: PushCourier

    static let categories: JSON = [
        "plain": [:], "balance": ["stateful": true, "default_priority": "high"],
        "news": ["collapsible": true],
    ]

    /// The app that has everything sends; it has no device token of its own.
    init(_ settings: JSONObject = [:], hasProviders: Bool = true) async throws {
        var all = settings
        all["rate_limits"] = [
            "installation": ["source": .null, "target": .null],
            "owner-sign-in": ["source": .null, "target": .null],
            "oauth-token": ["source": .null],
        ]
        world = try await FlagshipWorld(all)
        let device = try await world.registerDevice("Sender", nil, nil, Self.categories)
        sender = try await world.certify(device)
        let answer = try await world.onboard(sender)
        access = try #require(answer.json["access_token"]?.string)
        let standIn = try PushStandIn(world.world.clock)
        providers = standIn
        let clock = world.world.clock
        courier = PushCourier(transport: { standIn.respond($0) }, now: { clock.next() })
        guard hasProviders else { return }
        for provider in try standIn.providers() {
            try await world.world.carryOut(PushProviderChange.set(provider))
        }
    }

    @discardableResult
    func send(
        _ attributes: JSONObject = [:], bearer: String? = nil
    ) async throws -> Answered {
        let usual: JSONObject = ["category": "plain", "title": "Hello", "message": "World"]
        return try await world.send(
            .post, "/notifications",
            json: [
                "data": [
                    "type": "io.cozy.notifications",
                    "attributes": .object(usual.merging(attributes) { $1 }),
                ]
            ], bearer: bearer ?? access)
    }

    /// Sends one, and puts nothing of it on record.
    func attempt(_ id: UUID) async throws -> NotificationDelivery.Attempt? {
        try await delivery.attempt(id, in: world.world.realm)
    }

    private var delivery: NotificationDelivery {
        let (log, clock) = (world.world.log, world.world.clock)
        return NotificationDelivery(
            events: log, queries: MemoryQueries(log: log), courier: courier,
            now: { clock.next() })
    }

    /// Tries all that is due once, as the service does.
    @discardableResult
    func deliver() async throws -> [RecordNotification.Outcome] {
        let delivery = delivery
        var outcomes: [RecordNotification.Outcome] = []
        for requested in try await world.happened("notification.requested") {
            guard
                let attempt = try await delivery.attempt(requested.stream, in: world.world.realm)
            else { continue }
            for drop in attempt.gone { try await world.world.carryOut(drop) }
            outcomes.append(attempt.outcome)
            try await world.world.carryOut(
                RecordNotification(
                    notification: requested.stream, outcome: attempt.outcome,
                    mail: UUID.random(), now: world.world.clock.next()))
        }
        return outcomes
    }

    /// An app of the owner's on a device, with everything, or in a web view.
    func device(
        _ name: String, _ platform: String, _ token: String, isFlagship: Bool = false
    ) async throws -> TestInstallation {
        var app = try await world.registerDevice(name, platform, token, nil)
        if isFlagship { app = try await world.certify(app) }
        if let code = try await world.login(app).json["session_code"]?.string {
            _ = try await world.browser(code, at: InstallationRequest(app: app).place)
        }
        return app
    }
}

extension FlagshipWorld {
    func registerDevice(
        _ name: String, _ platform: String?, _ token: String?, _ categories: JSON?,
        software: String = "amiral"
    ) async throws -> TestInstallation {
        var members: JSONObject = [
            "redirect_uris": ["cozy://"], "client_name": .string(name),
            "software_id": .string(software),
        ]
        members["notification_platform"] = platform.map { .string($0) }
        members["notification_device_token"] = token.map { .string($0) }
        members["notifications"] = categories
        let answer = try await send(.post, "/auth/register", json: .object(members))
        #expect(answer.status == .created)
        #expect(answer.json["notifications"] == categories)
        return TestInstallation(
            id: try #require(answer.json["client_id"]?.string),
            secret: try #require(answer.json["client_secret"]?.string),
            token: try #require(answer.json["registration_access_token"]?.string))
    }

    func certify(_ app: TestInstallation) async throws -> TestInstallation {
        let device = try AppleDevice(apple)
        let answer = try await attest(app, device.attestation(try await challenge(app)).json)
        #expect(answer.status == .noContent)
        return app
    }
}
