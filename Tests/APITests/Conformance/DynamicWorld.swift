import HTTP
import Identity
import JOSE
import JSON
import Synchronization
import Testing
import Values

@testable import API

/// A client that nobody registered but itself, and Ann, who is signed in and agrees to all it asks for.
struct Dynamic {
    let world: AuthorizeWorld
    let made: JSON

    static let back = AuthorizeWorld.back

    static func site(_ documents: JSONObject = [:]) async throws -> AuthorizeWorld {
        let world = try await AuthorizeWorld(
            ["client_registration": "open"], fetchKeys: { documents[$0]?.canonical() })
        try await world.signIn()
        return world
    }

    init(_ members: JSONObject = [:], _ world: AuthorizeWorld? = nil) async throws {
        let site: AuthorizeWorld
        if let world { site = world } else { site = try await Self.site() }
        self.world = site
        let answer = try await Self.register(site, members)
        try #require(answer.status.code == 201, "\(answer.json)")
        made = answer.json
    }

    static func register(
        _ world: AuthorizeWorld, _ members: JSONObject
    ) async throws -> Answered {
        let usual: JSONObject = [
            "redirect_uris": [.string(back)], "client_name": "Web",
            "token_endpoint_auth_method": "client_secret_post",
            "grant_types": ["authorization_code", "refresh_token"],
        ]
        return try await world.world.call(
            .post, "/connect/register", .object(usual.merging(members) { $1 }))
    }

    var id: String { made["client_id"]?.string ?? "" }
    var secret: String { made["client_secret"]?.string ?? "" }
    var token: String { made["registration_access_token"]?.string ?? "" }
    var path: String { "/connect/register/\(id)" }

    func request(_ more: Pairs = []) -> Pairs {
        let names = more.map(\.name)
        return AuthorizeWorld.request(
            more + (names.contains("client_id") ? [] : [("client_id", id)]))
    }

    /// The code that comes of a request, and of the consent that it asks for.
    func code(_ more: Pairs = []) async throws -> String {
        let (place, members) = try world.sent(try await world.authorize(request(more)))
        guard place == "/consent" else { return try #require(members["code"], "\(members)") }
        let sealed = try #require(members["continue"])
        _ = try await world.decide(sealed, allows: true)
        let answer = try await world.authorize([("continue", sealed)])
        return try #require(try world.sent(answer).with["code"])
    }

    func tokens(_ more: Pairs = []) async throws -> Answered {
        try await world.redeem(
            try await code(more), [("client_id", id), ("client_secret", secret)])
    }

    func idToken(_ answer: Answered) async throws -> IDToken {
        try await world.idToken(answer, client: id)
    }

    /// Nobody is sent anywhere, and a page says why.
    func isTold(_ more: Pairs) async throws -> Bool {
        let answer = try await world.authorize(request(more))
        return answer.status == .badRequest && answer.response.headers["Location"] == nil
    }
}

/// A document that changes.
final class Served: Sendable {
    private let state: Mutex<JSON>

    init(_ document: JSON) { state = Mutex(document) }

    var document: JSON {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

extension Dynamic {
    /// Redeems a code, or something else, with an assertion instead of a secret.
    func assert(
        by key: SigningKey, _ form: Pairs? = nil, audience: String = AuthorizeWorld.issuer
    ) async throws -> Answered {
        let now = world.world.clock.next().seconds
        let assertion = try JWS.sign(
            JSON.object([
                "iss": .string(id), "sub": .string(id), "aud": .string(audience),
                "iat": .integer(now), "exp": .integer(now + 60),
                "jti": .string(UUID.random().description),
            ]).canonical(), by: key, type: "JWT")
        var pairs: Pairs
        if let form {
            pairs = form
        } else {
            pairs = [
                ("grant_type", "authorization_code"), ("code", try await code()),
                ("redirect_uri", Self.back), ("code_verifier", AuthorizeWorld.verifier),
            ]
        }
        pairs += [
            ("client_id", id), ("client_assertion", assertion),
            (
                "client_assertion_type",
                "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            ),
        ]
        return try await world.world.post("/connect/token", form: pairs)
    }
}
