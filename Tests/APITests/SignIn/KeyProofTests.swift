import Cryptography
import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private let issuer = "http://id.acme.example"
private let tokenURL = "\(issuer)/connect/token"
private let userInfoURL = "\(issuer)/connect/userinfo"

/// A key that proofs are made of as a test wants them.
struct ProofKey: Sendable {
    let key: ES256.PrivateKey
    let jwk: JSON
    let thumbprint: String

    init() throws {
        key = try ES256.PrivateKey.generate()
        let known = try #require(VerificationKey(.p256(key.publicKey)))
        jwk = .object((known.jwk.object ?? [:]).filter { $0.key != "use" && $0.key != "alg" })
        thumbprint = known.thumbprint
    }

    func proof(
        _ claims: JSONObject, header: JSONObject = [:], by other: ES256.PrivateKey? = nil
    ) throws -> String {
        let head: JSONObject = ["typ": "dpop+jwt", "alg": "ES256", "jwk": jwk]
        let written = [head.merging(header) { $1 }, claims].map { members in
            Base64URL.encode(JSON.object(members.filter { !$0.value.isNull }).canonical())
        }.joined(separator: ".")
        return written + "." + Base64URL.encode(try (other ?? key).sign(Array(written.utf8)))
    }
}

private struct Prover: Sendable {
    let world: SignInWorld
    let key: ProofKey

    init(_ settings: JSONObject = [:], metadata: JSONObject = [:]) async throws {
        world = try await SignInWorld(
            settings.merging(["registration": "jit_on_otp"]) { own, _ in own })
        try await world.registerPhone("app", metadata)
        key = try ProofKey()
    }

    func proof(
        _ method: String = "POST", _ url: String = tokenURL, for token: String? = nil,
        claims: JSONObject = [:], header: JSONObject = [:], by other: ProofKey? = nil
    ) throws -> String {
        var all: JSONObject = [
            "jti": .string("\(UUID.random())"), "htm": .string(method), "htu": .string(url),
            "iat": .integer(world.clock.next().seconds),
        ]
        all["ath"] = token.map { .string(Base64URL.encode(SHA256.hash(Array($0.utf8)))) }
        return try (other ?? key).proof(all.merging(claims) { $1 }, header: header)
    }

    func ask(
        _ form: [(name: String, value: String)], proofs: [String], basic: String? = nil
    ) async throws -> Answered {
        var headers: Headers = [
            "Host": "id.acme.example", "Content-Type": "application/x-www-form-urlencoded",
        ]
        for proof in proofs { headers.append("DPoP", proof) }
        headers["Authorization"] = basic.map { "Basic \(Base64.encode(Array($0.utf8)))" }
        return try await world.send(
            Request(
                method: .post, path: "/connect/token", query: nil, headers: headers,
                body: Array(Form.encode(form).utf8), source: "203.0.113.7", id: "request-6"))
    }

    func signIn(_ proofs: [String]? = nil, client: String = "app") async throws -> Answered {
        _ = try await world.requestCode(["Email": "ann@example.org"])
        return try await ask(
            [
                ("grant_type", "urn:cocoar:otp"), ("client_id", client),
                ("username", "ann@example.org"), ("otp_code", try await world.mailedCode()),
                ("scope", "openid email offline_access"),
            ], proofs: proofs ?? [try proof()])
    }

    func refresh(_ tokens: JSON, proofs: [String]) async throws -> Answered {
        try await ask(
            [
                ("grant_type", "refresh_token"), ("client_id", "app"),
                ("refresh_token", tokens["refresh_token"]?.string ?? ""),
            ], proofs: proofs)
    }

    func userInfo(
        _ token: String, scheme: String = "DPoP", proofs: [String]
    ) async throws -> Answered {
        var headers: Headers = ["Host": "id.acme.example", "Authorization": "\(scheme) \(token)"]
        for proof in proofs { headers.append("DPoP", proof) }
        return try await world.send(
            Request(
                method: .get, path: "/connect/userinfo", query: nil, headers: headers, body: [],
                source: "203.0.113.7", id: "request-7"))
    }
}

@Suite struct `Key-bound tokens` {
    @Test func `a late response with bound tokens goes to another proof of the same key alone`()
        async throws
    {
        let prover = try await Prover()
        let world = prover.world
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let form: [(name: String, value: String)] = [
            ("grant_type", "urn:cocoar:otp"), ("client_id", "app"),
            ("username", "ann@example.org"), ("otp_code", try await world.mailedCode()),
            ("scope", "openid offline_access"),
        ]
        world.log.hold()
        let first = Task { try await prover.ask(form, proofs: [try prover.proof()]) }
        while world.log.waiting == 0 { try await Task.sleep(for: .milliseconds(1)) }
        first.cancel()
        world.log.release()
        _ = await first.result
        let other = try await prover.ask(form, proofs: [try prover.proof(by: try ProofKey())])
        #expect(other.json["error"] == "invalid_grant")
        let again = try await prover.ask(form, proofs: [try prover.proof()])
        #expect(again.status == .ok, "\(again.json)")
        let refreshed = try await prover.refresh(again.json, proofs: [try prover.proof()])
        #expect(refreshed.status == .ok)
    }

    /// RFC 9449 section 5.
    @Test func `a public client's tokens are bound from its first proof on`() async throws {
        let prover = try await Prover()
        let unbound = try await prover.signIn([]).json
        #expect(unbound["token_type"] == "Bearer")
        let still = try await prover.refresh(unbound, proofs: []).json
        let bound = try await prover.refresh(still, proofs: [try prover.proof()]).json
        #expect(bound["token_type"] == "DPoP")
        #expect(try await prover.refresh(bound, proofs: []).json["error"] == "invalid_grant")
        let other = try prover.proof(by: try ProofKey())
        let stolen = try await prover.refresh(bound, proofs: [other])
        #expect(stolen.json["error"] == "invalid_grant")
        let next = try await prover.refresh(bound, proofs: [try prover.proof()])
        #expect(next.status == .ok && next.json["token_type"] == "DPoP")
    }

    @Test(arguments: ["reference", "jwt"])
    func `bound tokens are accepted with a proof of their key alone`(_ format: String) async throws
    {
        let prover = try await Prover(metadata: ["access_token_format": .string(format)])
        let tokens = try await prover.signIn().json
        #expect(tokens["token_type"] == "DPoP")
        let token = try #require(tokens["access_token"]?.string)
        let known = try await prover.world.introspect(token)
        #expect(known["active"] == true && known["token_type"] == "DPoP")
        #expect(known["cnf"] == ["jkt": .string(prover.key.thumbprint)])
        let proof = try prover.proof("GET", userInfoURL, for: token)
        for scheme in ["DPoP", "dpop", "DPOP"] {
            let proofs = [try prover.proof("GET", userInfoURL, for: token)]
            #expect(
                try await prover.userInfo(token, scheme: scheme, proofs: proofs).status == .ok)
        }
        #expect(try await prover.userInfo(token, proofs: [proof]).status == .ok)
        let again = try await prover.userInfo(token, proofs: [proof])
        #expect(again.json["error"] == "invalid_dpop_proof", "It was used.")
        let stolen = try await prover.userInfo(token, scheme: "Bearer", proofs: [])
        #expect(stolen.status == .unauthorized && stolen.json["error"] == "invalid_token")
        #expect(stolen.response.headers["WWW-Authenticate"]?.hasPrefix("DPoP ") == true)
        let downgraded = try await prover.userInfo(
            token, scheme: "Bearer", proofs: [try prover.proof("GET", userInfoURL, for: token)])
        #expect(downgraded.status == .unauthorized)
        let thief = try ProofKey()
        let other = try await prover.userInfo(
            token, proofs: [try prover.proof("GET", userInfoURL, for: token, by: thief)])
        #expect(other.status == .unauthorized && other.json["error"] == "invalid_token")
    }

    @Test func `bound tokens name their key in JWTs and at introspection`() async throws {
        let prover = try await Prover(metadata: ["access_token_format": "jwt"])
        let token = try #require(try await prover.signIn().json["access_token"]?.string)
        let parts = token.split(separator: ".").map(String.init)
        let claims = try JSON.parse(try #require(Base64URL.decode(parts[1])))
        #expect(claims["cnf"]?["jkt"]?.string == prover.key.thumbprint)
    }

    @Test func `unbound tokens are shown as bearer tokens`() async throws {
        let prover = try await Prover()
        let tokens = try await prover.signIn([]).json
        #expect(tokens["token_type"] == "Bearer")
        let token = try #require(tokens["access_token"]?.string)
        let bearer = try await prover.userInfo(token, scheme: "Bearer", proofs: [])
        #expect(bearer.status == .ok)
        let upgraded = try await prover.userInfo(
            token, proofs: [try prover.proof("GET", userInfoURL, for: token)])
        #expect(upgraded.status == .unauthorized)
    }

    @Test func `a public client's bound tokens are refreshed with the same key alone`() async throws
    {
        let prover = try await Prover()
        let first = try await prover.signIn().json
        let thief = try ProofKey()
        for proofs in [[], [try prover.proof(by: thief)]] {
            let answer = try await prover.refresh(first, proofs: proofs)
            #expect(answer.json["error"] == "invalid_grant")
        }
        let second = try await prover.refresh(first, proofs: [try prover.proof()])
        #expect(second.json["token_type"] == "DPoP")
        let token = second.json["access_token"]?.string ?? ""
        #expect(try await prover.world.introspect(token)["cnf"]?["jkt"] != nil)
    }

    @Test func `clients that demand bound tokens get no others`() async throws {
        let prover = try await Prover(metadata: ["dpop_bound_access_tokens": true])
        let none = try await prover.signIn([])
        #expect(none.status == .badRequest && none.json["error"] == "invalid_dpop_proof")
        #expect(try await prover.signIn().json["token_type"] == "DPoP")
    }

    @Test func `bound tokens are issued to clients that act for themselves`() async throws {
        let prover = try await Prover()
        let form = [(name: "grant_type", value: "client_credentials")]
        let first = try await prover.ask(
            form, proofs: [try prover.proof()], basic: SignInWorld.serviceBasic)
        #expect(first.json["token_type"] == "DPoP")
        let proof = try prover.proof()
        let answers = try await withThrowingTaskGroup(of: Answered.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await prover.ask(form, proofs: [proof], basic: SignInWorld.serviceBasic)
                }
            }
            return try await group.reduce(into: [Answered]()) { $0.append($1) }
        }
        #expect(answers.count { $0.status == .ok } == 1)
        #expect(
            answers.allSatisfy { $0.status == .ok || $0.json["error"] == "invalid_dpop_proof" })
    }

    @Test func `bound tokens need the server's nonce where the realm demands it`() async throws {
        let prover = try await Prover(["dpop_nonces": true])
        let asked = try await prover.signIn()
        #expect(asked.status == .badRequest && asked.json["error"] == "use_dpop_nonce")
        let nonce = try #require(asked.response.headers["DPoP-Nonce"])
        let tokens = try await prover.signIn([try prover.proof(claims: ["nonce": .string(nonce)])])
        let token = try #require(tokens.json["access_token"]?.string)
        let bare = try await prover.userInfo(
            token, proofs: [try prover.proof("GET", userInfoURL, for: token)])
        #expect(bare.status == .unauthorized && bare.json["error"] == "use_dpop_nonce")
        #expect(bare.response.headers["DPoP-Nonce"] != nil)
        let made = try await prover.userInfo(
            token,
            proofs: [
                try prover.proof("GET", userInfoURL, for: token, claims: ["nonce": .string(nonce)])
            ])
        #expect(made.status == .ok)
        let wrong = try await prover.signIn([try prover.proof(claims: ["nonce": "made up"])])
        #expect(wrong.json["error"] == "use_dpop_nonce")
    }
}

extension Prover {
    /// By what is wrong: claims, then the header.
    static func flaws(_ key: ProofKey, now: Int64) -> [(JSONObject, JSONObject)] {
        var claims: [JSONObject] = ["jti", "htm", "htu", "iat"].map { [$0: .null] }
        claims += [
            ["htm": "PUT"], ["htm": "post"], ["htu": "https://id.acme.example/connect/token"],
            ["htu": "\(issuer)/connect/introspect"], ["htu": "\(issuer):81/connect/token"],
            ["htu": "http://evil.example/connect/token"], ["htu": "\(tokenURL)/"], ["htu": "x"],
            ["iat": .integer(now - 3600)], ["iat": .integer(now + 3600)], ["iat": "now"],
            ["exp": .integer(now - 60)], ["exp": "never"], ["nbf": .integer(now + 60)],
            ["nbf": .integer(now + 3600)], ["nbf": "later"],
            ["jti": .string(String(repeating: "a", count: 257))], ["jti": 1], ["jti": ""],
        ]
        var secret = key.jwk.object ?? [:]
        secret["d"] = "AAAA"
        let headers: [JSONObject] = [
            ["typ": .null], ["typ": "JWT"], ["alg": "none"], ["alg": "RS256"], ["alg": .null],
            ["alg": "HS256"], ["jwk": .null], ["jwk": .object(secret)],
            ["jwk": ["kty": "oct", "k": "AAAA"]], ["crit": ["x"]],
        ]
        return claims.map { ($0, [:]) } + headers.map { ([:], $0) }
    }
}

@Suite struct `A proof of a key` {
    @Test func `a DPoP proof with any fault is refused without using up what it was for`()
        async throws
    {
        let prover = try await Prover()
        let now = prover.world.clock.next().seconds
        for (claims, header) in Prover.flaws(prover.key, now: now) {
            let answer = try await prover.signIn([try prover.proof(claims: claims, header: header)])
            #expect(answer.json["error"] == "invalid_dpop_proof", "\(claims) \(header)")
            #expect(answer.status == .badRequest)
        }
        let two = [try prover.proof(), try prover.proof()]
        let good = try prover.proof()
        for proofs in [two, ["x"], ["a.b.c"], [good + "A"], ["\(good), \(good)"]] {
            #expect(try await prover.signIn(proofs).json["error"] == "invalid_dpop_proof")
        }
        let other = try ProofKey()
        let mixed = try prover.proof(header: ["jwk": other.jwk])
        #expect(try await prover.signIn([mixed]).json["error"] == "invalid_dpop_proof")
        #expect(try await prover.signIn([good]).status == .ok)
    }

    @Test func `a DPoP proof may vary where RFC 9449 allows it`() async throws {
        let prover = try await Prover()
        let now = prover.world.clock.next().seconds
        for claims in [
            ["htu": "\(tokenURL)?x=1#y"], ["htu": "HTTP://ID.acme.EXAMPLE:80/connect/token"],
            ["iat": .integer(now - 10), "exp": .integer(now - 10)],
            ["iat": .integer(now + 10), "exp": .integer(now + 60)], ["more": 1],
        ] as [JSONObject] {
            #expect(
                try await prover.signIn([try prover.proof(claims: claims)]).status == .ok,
                "\(claims)")
        }
    }

    @Test func `a DPoP proof's nbf is accepted within the clock difference`() async throws {
        let prover = try await Prover()
        let now = prover.world.clock.next().seconds
        for (notBefore, status) in [(now - 60, Status.ok), (now + 8, .ok), (now + 31, .badRequest)]
        {
            let proof = try prover.proof(claims: ["nbf": .integer(notBefore)])
            #expect(try await prover.signIn([proof]).status == status, "\(notBefore - now)")
        }
    }

    @Test func `a DPoP proof is for one token`() async throws {
        let prover = try await Prover()
        let token = try #require(try await prover.signIn().json["access_token"]?.string)
        for (claims, header) in Prover.flaws(prover.key, now: prover.world.clock.next().seconds)
            + [(["ath": .null], [:]), (["ath": "AAAA"], [:])]
        {
            var claims = claims
            if claims["htu"]?.string == tokenURL { claims["htu"] = nil }
            let proof = try prover.proof(
                "GET", userInfoURL, for: token, claims: claims, header: header)
            let answer = try await prover.userInfo(token, proofs: [proof])
            #expect(answer.status == .unauthorized, "\(claims) \(header)")
            #expect(answer.json["error"] == "invalid_dpop_proof")
            #expect(answer.response.headers["WWW-Authenticate"]?.hasPrefix("DPoP ") == true)
        }
        #expect(try await prover.userInfo(token, proofs: []).json["error"] == "invalid_dpop_proof")
    }
}
