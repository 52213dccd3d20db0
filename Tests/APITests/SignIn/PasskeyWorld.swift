import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import SecurityKeys
import Testing
import Values

@testable import API
@testable import SecurityKeysTesting

/// A realm whose people sign in with passkeys, and Ann, who came in by a mailed code.
struct PasskeyWorld {
    static let host = "login.example.org"
    let world: SignInWorld
    let token: String
    let account: UUID

    init(_ settings: JSONObject = [:], client: JSONObject = [:]) async throws {
        let base: JSONObject = [
            "registration": "jit_on_otp", "primary_domain": .string(Self.host),
        ]
        world = try await SignInWorld(base.merging(settings) { $1 })
        for name in ["wallet", "other"] {
            let metadata: JSONObject = [
                "token_endpoint_auth_method": "none", "application_type": "native",
                "grant_types": ["urn:cocoar:otp", "urn:cocoar:passkey", "refresh_token"],
            ]
            try await world.carryOut(
                RegisterClient(
                    id: UUID.random(), clientID: name,
                    metadata: name == "wallet" ? metadata.merging(client) { $1 } : metadata))
        }
        (token, account) = try await Self.signIn("ann@example.org", world)
    }

    static func signIn(
        _ email: String, _ world: SignInWorld
    ) async throws -> (token: String, account: UUID) {
        _ = try await world.requestCode(["Email": .string(email)])
        let answer = try await world.post(
            "/connect/token",
            form: [
                ("grant_type", "urn:cocoar:otp"), ("client_id", "wallet"), ("username", email),
                ("otp_code", try await world.mailedCode()), ("scope", "openid"),
            ])
        let token = try #require(answer.json["access_token"]?.string)
        let subject = try await world.userInfo(token).json["sub"]?.string
        return (token, try #require(subject.flatMap { UUID($0) }))
    }

    // MARK: - Requests

    func send(
        _ method: Method, _ path: String, _ body: JSON? = nil, token: String? = nil
    ) async throws -> Answered {
        var headers: Headers = [
            "Host": "id.acme.example", "Authorization": "Bearer \(token ?? self.token)",
        ]
        if body != nil { headers["Content-Type"] = "application/json" }
        return try await world.send(
            Request(
                method: method, path: path, query: nil, headers: headers,
                body: body?.canonical() ?? [], source: "203.0.113.7", id: "request-4"))
    }

    func begin(_ client: String? = "wallet") async throws -> Begun {
        let form = client.map { [(name: "client_id", value: $0)] } ?? []
        return try Begun(try await world.post("/connect/passkey/begin", form: form))
    }

    func beginEnrollment(token: String? = nil) async throws -> Begun {
        try Begun(try await send(.post, "/connect/passkey/enroll/begin", token: token))
    }

    func enroll(_ begun: Begun, _ attestation: JSON, token: String? = nil) async throws -> Answered
    {
        try await send(
            .post, "/connect/passkey/enroll",
            ["ceremonyId": .string(begun.id), "attestation": attestation], token: token)
    }

    func redeem(
        _ ceremony: String, _ assertion: String, client: String = "wallet",
        scope: String = "openid offline_access"
    ) async throws -> Answered {
        try await world.post(
            "/connect/token",
            form: [
                ("grant_type", "urn:cocoar:passkey"), ("client_id", client), ("scope", scope),
                ("ceremony_id", ceremony), ("assertion", assertion),
            ])
    }

    // MARK: - All at once

    /// Has a key enrolled, as it is or changed.
    @discardableResult
    func enroll(
        _ key: SoftKey, token: String? = nil, _ change: (inout Draft) -> Void = { _ in }
    ) async throws -> Answered {
        let begun = try await beginEnrollment(token: token)
        return try await enroll(begun, try key.attestation(begun, change), token: token)
    }

    /// Signs in with a key, as it is or changed.
    func signIn(
        _ key: SoftKey, client: String = "wallet",
        _ change: (inout Draft) throws -> Void = { _ in }
    ) async throws -> Answered {
        let begun = try await begin(client)
        return try await redeem(begun.id, try key.assertion(begun, change), client: client)
    }

    func events(_ name: String) async throws -> [Recorded] {
        try await world.log.events(from: 1, limit: .max, in: world.realm)
            .filter { $0.name == name }
    }

    /// Why the last one was refused, as the record says.
    func lastReason() async throws -> String? {
        try await world.log.events(from: 1, limit: .max, in: world.realm).last {
            $0.name == "session.refused" || $0.name == "passkey.enrollment_refused"
        }?.open["reason"]?.string
    }

    func list(token: String? = nil) async throws -> [JSON] {
        let answer = try await send(.get, "/connect/passkey", token: token)
        #expect(answer.status == .ok)
        return try #require(answer.json.array)
    }
}

/// A ceremony as its beginning was answered.
struct Begun {
    let id: String
    let options: JSON
    let challenge: [UInt8]

    init(_ answer: Answered) throws {
        #expect(answer.status == .ok, "\(answer.json)")
        id = try #require(answer.json["ceremonyId"]?.string)
        options = try #require(answer.json["options"])
        challenge = try #require(options["challenge"]?.string.flatMap { Base64URL.decode($0) })
    }
}

/// An authenticator with one key, and its browser.
struct SoftKey {
    let key: TestKey
    let id: [UInt8]
    let account: UUID

    init(of account: UUID, key: TestKey? = nil, id: [UInt8] = Random.bytes(32)) throws {
        self.id = id
        self.key = try key ?? .es256(.generate())
        self.account = account
    }

    private func draft(_ ceremony: Draft.Ceremony, _ challenge: [UInt8]) -> Draft {
        var draft = Draft(ceremony, key: key)
        draft.credentialID = id
        draft.challenge = challenge
        draft.setClientData("challenge", "\"\(Base64URL.encode(challenge))\"")
        draft.userHandle = .string(Base64URL.encode(Array(account.description.utf8)))
        return draft
    }

    func attestation(
        _ begun: Begun, _ change: (inout Draft) throws -> Void = { _ in }
    ) throws -> JSON {
        var draft = draft(.create, begun.challenge)
        try change(&draft)
        return try draft.json()
    }

    func assertion(
        _ begun: Begun, _ change: (inout Draft) throws -> Void = { _ in }
    ) throws -> String {
        var draft = draft(.get, begun.challenge)
        try change(&draft)
        return String(decoding: try draft.json().canonical(), as: UTF8.self)
    }
}
