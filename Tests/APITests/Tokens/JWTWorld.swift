import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import ReadModels
import Synchronization
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

/// A realm that trusts its own keys wherever it can be told to: as those of a client, of an issuer of
/// assertions, and of a maker of clients. So nothing but its kind keeps a JWT from being taken.
struct JWTWorld: Sendable {
    let site: AuthorizeWorld
    static let bye = "https://web.example/bye"
    static let exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    static let bearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    var world: SignInWorld { site.world }

    private final class Published: Sendable { let document = Mutex<[UInt8]?>(nil) }

    init() async throws {
        let published = Published()
        let keys: JSON = ["jwks_uri": "https://id.acme.example/keys"]
        site = try await Site(
            [
                "registration": "jit_on_otp", "client_registration": "open",
                // Of all profiles it has one more kind of token, and one more reader.
                "profile": "verify",
                "assertion_issuers": [Site.issuer: keys],
                "software_statement_issuers": [Site.issuer: keys],
            ],
            web: [
                "post_logout_redirect_uris": [.string(Self.bye)],
                "backchannel_logout_uri": "https://web.example/out",
                "access_token_format": "jwt", "userinfo_signed_response_alg": "RS256",
                "may_act": ["gateway"], "jwks_uri": "https://id.acme.example/keys",
            ], fetchKeys: { _ in published.document.withLock { $0 } })
        let document = try await world.get("/.well-known/jwks").json.canonical()
        published.document.withLock { $0 = document }
        try await world.register(
            "gateway",
            ["grant_types": [.string(Self.exchange)], "token_exchange": "delegation"],
            secret: "hush")
        try await world.register(
            "signer",
            [
                "grant_types": ["client_credentials"], "scope": "jobs",
                "token_endpoint_auth_method": "private_key_jwt",
                "jwks_uri": "https://id.acme.example/keys",
            ])
        try await world.registerPhone(
            "partner", ["grant_types": ["urn:cocoar:otp", .string(Self.bearer), "refresh_token"]])
        try await site.registerTenant()
        try await site.signIn()
    }

    struct Tokens { let access: String, id: String }

    func tokens() async throws -> Tokens {
        let answer = try await site.redeem(try await site.code())
        return Tokens(
            access: try #require(answer.json["access_token"]?.string),
            id: try #require(answer.json["id_token"]?.string))
    }

    /// One of each kind that there is.
    func token(_ kind: JWTType) async throws -> String {
        let tokens = try await tokens()
        switch kind {
        case .idToken: return tokens.id
        case .accessToken: return tokens.access
        case .userInfo:
            return String(
                decoding: try await world.userInfo(tokens.access).response.body, as: UTF8.self)
        case .introspection: return try await introspected(tokens.access)
        case .logoutToken: return try await logoutToken(tokens.id)
        case .securityEvent: return try await securityEvent()
        case .tenantAccessToken, .tenantIDToken: return try await tenantToken(kind)
        // As a service that wants the realm's own signature gets it.
        case .federationAssertion: return try await signedAgain(tokens.id, as: kind)
        }
    }

    private func tenantToken(_ kind: JWTType) async throws -> String {
        let answer = try await world.send(try await site.tenantExchange())
        // As Cotter has it: the browser in which the code was given.
        #expect(answer.json["identifier"]?["device_name"] == "Mozilla/5.0 (a browser)")
        let name = kind == .tenantIDToken ? "id_token" : "access_token"
        return try #require(answer.json["oauth_token"]?[name]?.string)
    }

    private func introspected(_ token: String) async throws -> String {
        let answer = try await world.send(
            Request(
                method: .post, path: "/connect/introspect", query: nil,
                headers: [
                    "Host": "id.acme.example",
                    "Content-Type": "application/x-www-form-urlencoded",
                    "Accept": "application/token-introspection+jwt",
                    "Authorization":
                        "Basic \(Base64.encode(Array(SignInWorld.serviceBasic.utf8)))",
                ], body: Array(Form.encode([("token", token)]).utf8), source: "203.0.113.7",
                id: "request-14"))
        return String(decoding: answer.response.body, as: UTF8.self)
    }

    private func securityEvent() async throws -> String {
        let receiver = try await SignalWorld(world, clientID: "siem-\(UUID.random())")
        let sets = try await receiver.poll(try await receiver.create())
        return try #require(sets.values.first)
    }

    private func logoutToken(_ idToken: String) async throws -> String {
        let claims = try Self.claims(idToken)
        let session = try #require(claims["sid"]?.string.flatMap { UUID($0) })
        try await world.carryOut(
            EndSession(
                session: session, reason: .administrator,
                notice: NoticeOrder(id: .random(), issuer: Site.issuer)))
        let (log, clock, mint) = (world.log, world.clock, world.mint)
        let realmClock = RealmContext.Clock(
            now: { clock.next() }, passed: { .seconds(clock.next().seconds) })
        let letters = LogoutLetters(
            mint: { _ in mint },
            keys: TokenKeys(
                commands: Dispatcher(log: log), clock: realmClock, revision: { _ in log.revision },
                generate: { try SigningKey.pooled($0) }),
            events: log, queries: MemoryQueries(log: log), clock: realmClock)
        let ended = try await log.stream(session, after: 0, in: world.realm).last
        let position = try #require(ended?.position)
        return try #require(try await letters.letter(at: position, in: world.realm)).token
    }

    static func claims(_ token: String) throws -> JSONObject {
        let parts = token.split(separator: ".").map(String.init)
        let bytes = try #require(parts.count == 3 ? Base64URL.decode(parts[1]) : nil)
        return try #require(try JSON.parse(bytes).object)
    }

    static func type(_ token: String) throws -> String? {
        let head = try #require(token.split(separator: ".").first.map(String.init))
        return try JSON.parse(try #require(Base64URL.decode(head)))["typ"]?.string
    }

    /// The same claims under the same key, as another kind.
    func signedAgain(_ token: String, as type: JWTType) async throws -> String {
        try JWS.sign(
            JSON.object(try Self.claims(token)).canonical(), by: try await signingKey(.rs256),
            type: type.rawValue)
    }

    private func signingKey(_ algorithm: SigningAlgorithm) async throws -> SigningKey {
        let keys = try await TokenKeys(
            commands: Dispatcher(log: world.log),
            clock: RealmContext.Clock(
                now: { [clock = world.clock] in clock.next() }, passed: { .zero }),
            revision: { [log = world.log] _ in log.revision },
            generate: { try SigningKey.pooled($0) }
        ).keys(of: world.realm)
        return try #require(keys.active[algorithm])
    }
}

/// Whoever reads a JWT here: whether it is taken.
enum JWTReader: String, CaseIterable, Sendable {
    case hintAtAuthorize, hintAtLogout, userInfo, guarding, introspection, revocation
    case exchangedSubject, exchangedActor, clientAssertion, requestObject, pushedObject
    case assertionGrant, softwareStatement, keyProof
    /// Says of a tenant's token whether it is good.
    case tenantWorker
    /// As others read what Urd signs, and Urd what other servers sign.
    case resourceServer, providersIDToken, providersLogoutToken

    /// The only kind that it takes; nil where none of ours is for it.
    var kind: JWTType? {
        switch self {
        case .hintAtAuthorize, .hintAtLogout, .providersIDToken: .idToken
        case .userInfo, .guarding, .introspection, .revocation, .exchangedSubject,
            .exchangedActor, .resourceServer:
            .accessToken
        case .providersLogoutToken: .logoutToken
        case .tenantWorker: .tenantAccessToken
        case .clientAssertion, .requestObject, .pushedObject, .assertionGrant,
            .softwareStatement, .keyProof:
            nil
        }
    }
}
