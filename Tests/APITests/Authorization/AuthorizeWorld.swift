import Cryptography
import HTTP
import Identity
import JOSE
import JSON
import Telemetry
import Testing
import Values

@testable import API

typealias Pairs = [(name: String, value: String)]

/// A web app with a secret, a phone app without one, and Ann, who may be signed in in a browser.
struct AuthorizeWorld {
    let world: SignInWorld
    let ann: UUID
    static let back = "https://web.example/back"
    static let issuer = "http://id.acme.example"

    init(
        _ settings: JSONObject = [:], web: JSONObject = [:],
        fetchKeys: @escaping RemoteKeys.Fetch = { _ in nil }
    ) async throws {
        world = try await SignInWorld(settings, fetchKeys: fetchKeys)
        ann = .random()
        try await world.carryOut(
            RegisterAccount(
                account: ann, addresses: Addresses(mailbox: .random()),
                person: Person(
                    email: "ann@example.org", firstName: "Ann", lastName: "Lee",
                    externalID: "BP-4711"),
                isConfirmed: true))
        try await register("web", web)
        try await register(
            "app",
            [
                "token_endpoint_auth_method": "none", "application_type": "native",
                "redirect_uris": ["http://127.0.0.1/back", "org.example.app:/back"],
            ])
    }

    func register(_ clientID: String, _ metadata: JSONObject) async throws {
        let usual: JSONObject = [
            "grant_types": ["authorization_code", "refresh_token"],
            "redirect_uris": [.string(Self.back)], "consent": "none",
            "token_endpoint_auth_method": "client_secret_post", "client_name": "Web",
        ]
        let all = usual.merging(metadata) { _, own in own }
        let hasSecret = all["token_endpoint_auth_method"] == "client_secret_post"
        try await world.register(
            clientID, all, secret: hasSecret ? SignInWorld.secret : nil)
    }

    func signIn(by factors: [AuthenticationFactor] = [.mailedCode]) async throws {
        try await world.signIn("ann", as: ann, by: factors)
    }

    static let verifier = "a-verifier-of-forty-three-characters-at-least.~"
    static var challenge: String {
        Base64URL.encode(SHA256.hash(Array(verifier.utf8)))
    }

    static func request(_ more: Pairs = [], without: Set<String> = []) -> Pairs {
        let usual: Pairs = [
            ("response_type", "code"), ("client_id", "web"), ("redirect_uri", back),
            ("scope", "openid email profile offline_access"), ("state", "a state&more"),
            ("nonce", "n-1"), ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ]
        let names = without.union(more.map(\.name))
        return usual.filter { !names.contains($0.name) } + more.filter { $0.value != "-" }
    }

    func authorize(
        _ pairs: Pairs = request(), browser: String = "ann", method: HTTP.Method = .get
    ) async throws -> Answered {
        try await visit(AuthorizeRoutes.path, pairs, browser: browser, method: method)
    }

    func visit(
        _ path: String, _ pairs: Pairs, browser: String = "ann", method: HTTP.Method = .get
    ) async throws -> Answered {
        var headers: Headers = ["Host": "id.acme.example"]
        headers["Cookie"] = world.cookie(browser)
        if method == .post { headers["Content-Type"] = "application/x-www-form-urlencoded" }
        return try await world.send(
            Request(
                method: method, path: path, query: method == .get ? Form.encode(pairs) : nil,
                headers: headers, body: method == .get ? [] : Array(Form.encode(pairs).utf8),
                source: "203.0.113.9", id: "request-9"))
    }

    /// Where an answer leads, and with what.
    func sent(_ answer: Answered) throws -> (to: String, with: [String: String]) {
        let location = try #require(answer.response.headers["Location"])
        let mark = location.firstIndex(of: "?") ?? location.endIndex
        let pairs = try #require(Form.parse(Array(location[mark...].dropFirst().utf8)))
        return (
            String(location[..<mark]),
            Dictionary(pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        )
    }

    /// What the client is told: at its address, or on a page that the person may go on from.
    func fault(_ answer: Answered) throws -> String? {
        if answer.response.headers["Location"] != nil { return try sent(answer).with["error"] }
        let page = String(decoding: answer.response.body, as: UTF8.self)
        guard let start = page.firstRange(of: "<code>"),
            let end = page[start.upperBound...].firstRange(of: "</code>")
        else { return nil }
        return String(page[start.upperBound..<end.lowerBound])
    }

    func code(_ pairs: Pairs = request()) async throws -> String {
        let answer = try await authorize(pairs)
        return try #require(try sent(answer).with["code"], "\(answer.response)")
    }

    func redeem(_ code: String, _ more: Pairs = []) async throws -> Answered {
        let usual: Pairs = [
            ("grant_type", "authorization_code"), ("code", code), ("client_id", "web"),
            ("client_secret", SignInWorld.secret), ("redirect_uri", Self.back),
            ("code_verifier", Self.verifier),
        ]
        let names = Set(more.map(\.name))
        return try await world.post(
            "/connect/token",
            form: usual.filter { !names.contains($0.name) } + more.filter { $0.value != "-" })
    }

    func idToken(_ answer: Answered, client: String = "web", nonce: String? = "n-1") async throws
        -> IDToken
    {
        try IDToken.check(
            try #require(answer.json["id_token"]?.string), keys: try await world.keySet(),
            issuer: Self.issuer, clientID: client, nonce: nonce,
            accessToken: try #require(answer.json["access_token"]?.string),
            at: world.clock.next())
    }

    /// What the consent page does once its button was pressed.
    func decide(_ sealed: String, allows: Bool) async throws -> (
        to: String, with: [String: String]
    ) {
        try sent(try await decided(sealed, allows: allows))
    }

    func decided(_ sealed: String, allows: Bool) async throws -> Answered {
        let route = Route<RealmContext>(
            .post, "/test/consent", id: "testConsent", tag: "Test", summary: "Decides.",
            right: .nothing, voice: .oauth,
            answer: Answer(status: .seeOther, description: "On.", content: .nothing)
        ) { call throws(Problem) in
            guard let browser = try await BrowserSessions(call).current() else {
                throw Problem(.forbidden)
            }
            let pending = try await call.pendingAuthorization(sealed, for: browser)
            guard pending?.clientName == "Web" else { throw Problem(.internalError) }
            return try await call.decideConsent(sealed, allows: allows, as: browser)
        }
        let contexts = world.contexts
        let router = Router(
            [contexts.table([route], isServed: { _ in true })], log: .silent, metrics: Metrics())
        let answer = await router.respond(
            to: Request(
                method: .post, path: "/test/consent", query: nil,
                headers: ["Host": "id.acme.example", "Cookie": world.cookie("ann") ?? ""], body: [],
                source: "203.0.113.9", id: "request-8"))
        return Answered(answer)
    }
}
