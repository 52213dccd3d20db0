import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

/// A client that signs what it says, pushes its requests, and has its tokens bound to a key; and Ann, who
/// is signed in.
struct FAPIWorld {
    let site: AuthorizeWorld
    let key: SigningKey
    let proofs: ProofKey

    static let tokenURL = "\(AuthorizeWorld.issuer)/connect/token"
    static let pushURL = "\(AuthorizeWorld.issuer)/connect/par"

    init(_ more: JSONObject = [:], algorithm: SigningAlgorithm = .es256) async throws {
        site = try await AuthorizeWorld()
        key = try SigningKey.pooled(algorithm, id: "k")
        proofs = try ProofKey()
        let usual: JSONObject = [
            "token_endpoint_auth_method": "private_key_jwt", "dpop_bound_access_tokens": true,
            "require_pushed_authorization_requests": true,
            "jwks": KeySet([key.verificationKey]).document,
        ]
        for name in ["bank", "other"] {
            try await site.register(name, usual.merging(more) { $1 })
        }
        try await site.signIn()
    }

    var now: Int64 { site.world.clock.next().seconds }

    func assertion(
        _ client: String = "bank", _ change: JSONObject = [:], by other: SigningKey? = nil
    ) throws -> String {
        let now = now
        let usual: JSONObject = [
            "iss": .string(client), "sub": .string(client), "aud": .string(AuthorizeWorld.issuer),
            "iat": .integer(now), "nbf": .integer(now), "exp": .integer(now + 60),
            "jti": .string(UUID.random().description),
        ]
        let claims = usual.merging(change) { $1 }.filter { !$0.value.isNull }
        return try JWS.sign(JSON.object(claims).canonical(), by: other ?? key, type: "JWT")
    }

    func proof(
        _ url: String = tokenURL, by other: ProofKey? = nil, _ change: JSONObject = [:]
    ) throws -> String {
        let usual: JSONObject = [
            "jti": .string(UUID.random().description), "htm": "POST", "htu": .string(url),
            "iat": .integer(now),
        ]
        return try (other ?? proofs).proof(usual.merging(change) { $1 })
    }

    func post(
        _ path: String, _ form: Pairs, client: String = "bank", assertion: String? = nil,
        proof: String?
    ) async throws -> Answered {
        var headers: Headers = [
            "Host": "id.acme.example", "Content-Type": "application/x-www-form-urlencoded",
        ]
        if let proof { headers["DPoP"] = proof }
        let who: Pairs = [
            ("client_id", client),
            (
                "client_assertion_type",
                assertion == "-" ? "-" : "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            ),
            ("client_assertion", try assertion ?? self.assertion(client)),
        ]
        let body = Form.encode((form + who).filter { $0.value != "-" })
        return try await site.world.send(
            Request(
                method: .post, path: path, query: nil, headers: headers, body: Array(body.utf8),
                source: "203.0.113.7", id: "request-11"))
    }

    func push(
        _ more: Pairs = [], client: String = "bank", assertion: String? = nil, proof: String? = nil
    ) async throws -> Answered {
        let request = AuthorizeWorld.request(more).filter { $0.name != "client_id" }
        return try await post(
            "/connect/par", request, client: client, assertion: assertion, proof: proof)
    }

    /// What comes of the browser's visit with a request that was pushed.
    func visit(_ pushed: Answered, client: String = "bank", _ more: Pairs = []) async throws
        -> Answered
    {
        try await site.authorize(
            [
                ("client_id", client), ("request_uri", pushed.json["request_uri"]?.string ?? ""),
            ] + more)
    }

    func code(_ more: Pairs = [], proof: String? = nil) async throws -> String {
        let pushed = try await push(more, proof: proof)
        let answer = try await visit(pushed)
        return try #require(try site.sent(answer).with["code"], "\(pushed.json)")
    }

    func redeem(
        _ code: String, _ more: Pairs = [], client: String = "bank", assertion: String? = nil,
        proof: String? = nil
    ) async throws -> Answered {
        let usual: Pairs = [
            ("grant_type", "authorization_code"), ("code", code),
            ("redirect_uri", AuthorizeWorld.back), ("code_verifier", AuthorizeWorld.verifier),
        ]
        let names = Set(more.map(\.name))
        return try await post(
            "/connect/token", usual.filter { !names.contains($0.name) } + more, client: client,
            assertion: assertion, proof: try proof ?? self.proof())
    }
}
