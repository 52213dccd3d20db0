import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API
@testable import SecurityKeysTesting

/// A realm of the flagship profile, with an owner who has a register token, and stores that vouch for
/// apps: like the real ones, with keys of our own.
struct FlagshipWorld {
    static let team = "TEAMTEAM01.io.example.flagship"
    static let package = "io.example.flagship"
    static let secondPackage = "io.example.other"

    let world: SignInWorld
    let account = UUID.random()
    let apple: CertificateAuthority
    let google: GoogleStore
    let registerToken: String

    init(
        _ more: JSONObject = [:], callProviders: UpstreamCalls = .none
    ) async throws {
        let apple = try CertificateAuthority()
        let google = try GoogleStore()
        let fingerprint = Hex.encode(google.certificateDigest).uppercased()
        var settings: JSONObject = [
            "profile": "flagship",
            "certified_apps": [
                .string("ios:\(Self.team)"), .string("android:\(Self.package):\(fingerprint)"),
                .string("android:\(Self.secondPackage):\(fingerprint)"),
            ],
            "app_attest_roots": [.string(Base64.encode(apple.root))],
            "rate_limits": [
                "installation": ["source": .null, "target": .null], "owner-mail": ["target": .null],
                "certification": ["target": .null],
                "owner-sign-in": ["source": .null, "target": .null],
                "oauth-token": ["source": .null],
            ],
        ]
        settings.merge(more) { _, own in own }
        self.apple = apple
        self.google = google
        world = try await SignInWorld(settings, callProviders: callProviders)
        let person = Person(email: "camille@example.org", firstName: "Camille")
        try await world.carryOut(
            RegisterAccount(
                account: account,
                addresses: Addresses(mailbox: world.mint.mailbox("camille@example.org")),
                person: person, isConfirmed: true))
        try await world.carryOut(
            IntegrityKeysChange.set(
                verification: google.keys, decryption: [Base64.encode(google.decryptionKey)]))
        let token = UUID.random()
        registerToken = world.mint.registerToken(token)
        try await world.carryOut(AppointOwner(account: account, token: token))
    }

    func send(
        _ method: Method, _ path: String, json: JSON? = nil,
        form: [(name: String, value: String)]? = nil, bearer: String? = nil, query: String? = nil,
        headers more: Headers = [:]
    ) async throws -> Answered {
        var headers = more
        headers["Host"] = "id.acme.example"
        if headers["Accept"] == nil { headers["Accept"] = "application/json" }
        if json != nil { headers["Content-Type"] = "application/json" }
        if form != nil { headers["Content-Type"] = "application/x-www-form-urlencoded" }
        if let bearer { headers["Authorization"] = "Bearer \(bearer)" }
        return try await world.send(
            Request(
                method: method, path: path, query: query, headers: headers,
                body: json?.canonical() ?? form.map { Array(Form.encode($0).utf8) } ?? [],
                source: "203.0.113.7", id: "request-1"))
    }

    func register(_ name: String = "Phone") async throws -> TestInstallation {
        let answer = try await send(
            .post, "/auth/register",
            json: [
                "redirect_uris": ["cozy://"], "client_name": .string(name),
                "software_id": "amiral",
            ])
        #expect(answer.status == .created)
        return TestInstallation(
            id: try #require(answer.json["client_id"]?.string),
            secret: try #require(answer.json["client_secret"]?.string),
            token: try #require(answer.json["registration_access_token"]?.string))
    }

    func challenge(_ app: TestInstallation) async throws -> String {
        let answer = try await send(
            .post, "/auth/clients/\(app.id)/challenge", bearer: app.token)
        #expect(answer.status == .created)
        return try #require(answer.json["nonce"]?.string)
    }

    func attest(_ app: TestInstallation, _ body: JSON) async throws -> Answered {
        try await send(
            .post, "/auth/clients/\(app.id)/attestation", json: body, bearer: app.token)
    }

    /// An installation that its store vouched for.
    func certified(_ name: String = "Phone") async throws -> TestInstallation {
        let app = try await register(name)
        let device = try AppleDevice(apple)
        let answer = try await attest(
            app, device.attestation(try await challenge(app)).json)
        #expect(answer.status == .noContent)
        return app
    }

    static let hash = "this is what a device made of it"

    func onboard(_ app: TestInstallation) async throws -> Answered {
        try await send(
            .post, "/settings/passphrase/flagship",
            json: app.members([
                "register_token": .string(registerToken), "passphrase": .string(Self.hash),
                "hint": "otters", "key": "k", "public_key": "pub", "private_key": "priv",
                "iterations": 650_000,
            ]))
    }

    func login(
        _ app: TestInstallation, _ passphrase: String = hash, _ more: JSONObject = [:]
    ) async throws -> Answered {
        try await send(
            .post, "/auth/login/flagship",
            json: app.members(more.merging(["passphrase": .string(passphrase)]) { own, _ in own }))
    }

    func refresh(_ app: TestInstallation, _ token: String) async throws -> Answered {
        try await send(
            .post, "/auth/access_token",
            form: [
                ("grant_type", "refresh_token"), ("client_id", app.id),
                ("client_secret", app.secret), ("refresh_token", token),
            ])
    }

    func sessionCode(_ token: String?) async throws -> Answered {
        try await send(.post, "/auth/session_code", bearer: token)
    }

    /// A code for a person whom the provider of `StandIn` named, in a session there.
    func delegatedCode(
        _ subject: String = "248289761001", session: String? = nil
    ) async throws -> String {
        let (mint, id) = (world.mint, UUID.random())
        try await world.carryOut(
            IssueDelegatedCode(
                code: id,
                terms: DelegatedCodeTerms(
                    identity: mint.identity(subject, at: StandIn.issuer),
                    upstream: session.map { mint.upstreamSession($0, at: StandIn.issuer) },
                    upstreamName: session, provider: "corporate",
                    expiresAt: world.clock.next().adding(seconds: DelegatedCode.lifetime))))
        return mint.delegatedCode(id)
    }

    /// The digits that the last mail of a purpose would bring.
    func mailedDigits() async throws -> String {
        let events = try await world.log.events(from: 1, limit: .max, in: world.realm)
        let issued = try #require(events.last { $0.name == "mailed_code.issued" })
        return world.mint.code(try #require(issued.open["mail"]?.string.flatMap { UUID($0) }))
    }

    func happened(_ name: String) async throws -> [Recorded] {
        try await world.log.events(from: 1, limit: .max, in: world.realm).filter {
            $0.name == name
        }
    }
}

/// What an installation keeps.
struct TestInstallation: Sendable {
    var id: String
    var secret: String
    var token: String

    func members(_ more: JSONObject) -> JSON {
        .object(
            more.merging(["client_id": .string(id), "client_secret": .string(secret)]) {
                own, _ in own
            })
    }
}
