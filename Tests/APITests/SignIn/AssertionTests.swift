import EventSourcing
import HTTP
import JOSE
import JSON
import Testing
import Values

@testable import API
@testable import Identity

private let issuer = "http://id.acme.example"
private let bearerType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

/// A client that signs instead of having a secret.
private struct Signer: Sendable {
    let world: SignInWorld
    let key: SigningKey

    init(
        _ algorithm: SigningAlgorithm = .es256, _ settings: JSONObject = [:],
        metadata: JSONObject = [:]
    ) async throws {
        world = try await SignInWorld(settings)
        key = try SigningKey.pooled(algorithm)
        let usual: JSONObject = [
            "grant_types": ["client_credentials"], "scope": "jobs",
            "token_endpoint_auth_method": "private_key_jwt",
            "jwks": KeySet([key.verificationKey]).document,
        ]
        try await world.register("signer", usual.merging(metadata) { _, own in own })
    }

    func assertion(
        audience: String = issuer, id: String = "\(UUID.random())", client: String = "signer",
        lifetime: Int64 = 60, age: Int64? = 0, by other: SigningKey? = nil
    ) throws -> String {
        let now = world.clock.next()
        return try ClientAssertion(
            clientID: client, audience: audience, id: id,
            issuedAt: age.map { now.adding(seconds: -$0) },
            expiresAt: now.adding(seconds: lifetime)
        ).signed(by: other ?? key)
    }

    /// An assertion that says more than it has to.
    func signed(_ more: JSONObject) throws -> String {
        let now = world.clock.next().seconds
        let claims: JSONObject = [
            "iss": "signer", "sub": "signer", "aud": .string(issuer), "iat": .integer(now),
            "exp": .integer(now + 60), "jti": .string("\(UUID.random())"),
        ]
        let all = JSON.object(claims.merging(more) { $1 })
        return try JWS.sign(all.canonical(), by: key, type: "JWT")
    }

    func send(
        _ assertion: String, to path: String = "/connect/token", type: String = bearerType,
        _ more: [(name: String, value: String)] = []
    ) async throws -> Answered {
        let grant = [(name: "grant_type", value: "client_credentials")]
        return try await world.post(
            path,
            form: (path == "/connect/token" ? grant : []) + [
                ("client_assertion_type", type), ("client_assertion", assertion),
            ] + more)
    }
}

@Suite struct `Client assertions` {
    @Test func `a repeated request with another assertion gets the late response of the first`()
        async throws
    {
        let signer = try await Signer()
        let world = signer.world
        world.log.hold()
        let first = Task { try await signer.send(try signer.assertion()) }
        while world.log.waiting == 0 { try await Task.sleep(for: .milliseconds(1)) }
        first.cancel()
        world.log.release()
        let gone = try await first.value
        let again = try await signer.send(try signer.assertion())
        #expect(again.status == .ok && again.json == gone.json)
        let next = try await signer.send(try signer.assertion())
        #expect(next.status == .ok && next.json != gone.json)
    }

    @Test(arguments: SigningAlgorithm.allCases)
    func `a client assertion gives tokens`(algorithm: SigningAlgorithm) async throws {
        let signer = try await Signer(algorithm)
        let answer = try await signer.send(try signer.assertion())
        #expect(answer.status == .ok && answer.json["access_token"] != nil)
        let named = try await signer.send(try signer.assertion(), [("client_id", "signer")])
        #expect(named.status == .ok)
        let other = try await signer.send(try signer.assertion(), [("client_id", "service")])
        #expect(other.json["error"] == "invalid_request")
    }

    @Test func `a client assertion used many times at once is accepted once`() async throws {
        let signer = try await Signer()
        let assertion = try signer.assertion()
        let answers = try await withThrowingTaskGroup(of: Answered.self) { group in
            for _ in 0..<50 { group.addTask { try await signer.send(assertion) } }
            return try await group.reduce(into: [Answered]()) { $0.append($1) }
        }
        #expect(answers.count { $0.status == .ok } == 1)
        #expect(answers.allSatisfy { $0.status == .ok || $0.json["error"] == "invalid_client" })
        #expect(try await signer.world.events().count { $0 == "session.opened" } == 1)
    }

    @Test func `a client assertion used at introspection is not accepted for tokens again`()
        async throws
    {
        let signer = try await Signer()
        let first = try await signer.send(try signer.assertion())
        let token = try #require(first.json["access_token"]?.string)
        let assertion = try signer.assertion()
        let ask = {
            try await signer.send(assertion, to: "/connect/introspect", [("token", token)])
        }
        #expect(try await ask().json["active"] == true)
        #expect(try await ask().json["error"] == "invalid_client")
        #expect(try await signer.send(assertion).json["error"] == "invalid_client")
        let gone = try await signer.send(
            try signer.assertion(), to: "/connect/revoke", [("token", token)])
        #expect(gone.status == .ok)
        let after = try await signer.send(
            try signer.assertion(), to: "/connect/introspect", [("token", token)])
        #expect(after.json == ["active": false])
    }

    @Test func `a client assertion used fifty times on several nodes and routes is accepted once`()
        async throws
    {
        let signer = try await Signer()
        let first = try await signer.send(try signer.assertion())
        let token = try #require(first.json["access_token"]?.string)
        // A node that shares nothing with the first but the log.
        let other = signer.world.otherNode()
        for path in ["/connect/introspect", "/connect/revoke"] {
            let assertion = try signer.assertion()
            let form: [(name: String, value: String)] = [
                ("client_assertion_type", bearerType), ("client_assertion", assertion),
                ("token", token + "x"),
            ]
            let statuses = try await withThrowingTaskGroup(of: Status.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        number.isMultiple(of: 2)
                            ? try await signer.world.post(path, form: form).status
                            : await signer.world.post(path, form: form, at: other).status
                    }
                }
                return try await group.reduce(into: [Status]()) { $0.append($1) }
            }
            #expect(statuses.count { $0 == .ok } == 1, "\(path)")
            #expect(statuses.count { $0 == .unauthorized } == 49, "\(path)")
        }
    }

    @Test func `a client assertion with any fault is refused`() async throws {
        let signer = try await Signer()
        let stranger = try SigningKey.pooled(.es256, id: signer.key.id)
        let texts = [
            try signer.assertion(audience: "https://elsewhere.example"),
            try signer.assertion(audience: "\(issuer)/connect/token"),
            try signer.assertion(audience: "\(issuer)/"),
            try signer.assertion(lifetime: -31), try signer.assertion(lifetime: 3700),
            try signer.assertion(lifetime: 400, age: nil),
            try signer.assertion(age: -60), try signer.assertion(age: 331),
            try signer.assertion(lifetime: 3000, age: 331),
            try signer.assertion(id: String(repeating: "a", count: 257)),
            try signer.assertion(by: stranger), try signer.assertion(client: "service"),
            try signer.assertion(client: "nobody"), "a.b.c", "nothing",
            try signer.assertion() + "A",
        ]
        for text in texts {
            let answer = try await signer.send(text)
            #expect(answer.status == .unauthorized, "\(text)")
            #expect(answer.json["error"] == "invalid_client")
        }
        // A request object that was signed without a type of its own (RFC 9101 section 10.8).
        for (claim, status) in [("request", Status.ok), ("response_type", .unauthorized)] {
            let asked = try signer.signed([claim: "code"])
            #expect(try await signer.send(asked).status == status, "\(claim)")
        }
        let otherType = try await signer.send(try signer.assertion(), type: "saml")
        #expect(otherType.json["error"] == "invalid_client")
    }

    @Test
    func `a client assertion with an hour to live is accepted for five minutes and remembered`()
        async throws
    {
        let signer = try await Signer()
        let assertion = try signer.assertion(lifetime: 3600)
        #expect(try await signer.send(assertion).status == .ok)
        let now = signer.world.clock.next()
        #expect(try await signer.send(assertion).json["error"] == "invalid_client")
        // What the log remembers of it ends with its use, and not with its hour.
        let kinds = Set(signer.world.log.takenKinds.filter { $0.contains("client_assertion") })
        let used = UsedAssertion(id: "x", until: now.adding(seconds: 330))
        #expect(kinds == [used.claim(by: "signer").kind])
        let later = try signer.assertion(lifetime: 3600)
        signer.world.clock.advance(seconds: 331)
        #expect(try await signer.send(later).json["error"] == "invalid_client")
    }

    /// Whoever has the key hears what is wrong; nobody else does, of clients that there are as little as of others.
    @Test func `a client assertion's refusal tells its fault to the holder of the key alone`()
        async throws
    {
        let signer = try await Signer()
        let stranger = try SigningKey.pooled(.es256, id: signer.key.id)
        func sentence(_ assertion: String) async throws -> String {
            try await signer.send(assertion).json["error_description"]?.string ?? ""
        }
        for (assertion, word) in [
            (try signer.assertion(audience: "\(issuer)/connect/token"), "only audience"),
            (try signer.assertion(lifetime: 7200), "lives too long"),
            (try signer.assertion(lifetime: 3000, age: 400), "300 seconds from its iat"),
            (try signer.assertion(age: -90), "from the future"),
        ] {
            #expect(try await sentence(assertion).contains(word), "\(word)")
        }
        let wanted = try await sentence(try signer.assertion(by: stranger))
        #expect(wanted.contains("aud \(issuer) alone"))
        #expect(try await sentence(try signer.assertion(client: "nobody")) == wanted)
        #expect(try await sentence(try signer.assertion(client: "service")) == wanted)
        #expect(
            try await sentence(try signer.assertion(audience: "https://b.example", by: stranger))
                == wanted)
    }

    @Test func `a client assertion with several audiences is refused`() async throws {
        let signer = try await Signer()
        let now = signer.world.clock.next().seconds
        let claims = """
            {"iss":"signer","sub":"signer","aud":["\(issuer)"],"jti":"x1","exp":\(now + 60)}
            """
        let two = claims.replacing("[\"\(issuer)\"]", with: "[\"\(issuer)\",\"https://b.example\"]")
        let text = try JWS.sign(Array(two.utf8), by: signer.key, type: "JWT")
        #expect(try await signer.send(text).json["error"] == "invalid_client")
        let noID = try JWS.sign(
            Array(claims.replacing("\"jti\":\"x1\",", with: "").utf8), by: signer.key, type: "JWT")
        #expect(try await signer.send(noID).json["error"] == "invalid_client")
    }

    @Test func `a client assertion may name the token endpoint where the realm allows it`()
        async throws
    {
        let signer = try await Signer(.es256, ["client_assertion_for_token_url": true])
        let answer = try await signer.send(
            try signer.assertion(audience: "\(issuer)/connect/token"))
        #expect(answer.status == .ok)
    }

    @Test func `a client assertion may name the token endpoint where the client's rules allow it`()
        async throws
    {
        let signer = try await Signer(
            .es256, metadata: ["client_assertion_for_token_url": true])
        let answer = try await signer.send(
            try signer.assertion(audience: "\(issuer)/connect/token"))
        #expect(answer.status == .ok)
        let other = try await signer.send(
            try signer.assertion(audience: "\(issuer)/connect/introspect"))
        #expect(other.json["error"] == "invalid_client")
    }

    @Test func `a client registered for assertions is refused with a secret, or with none`()
        async throws
    {
        let signer = try await Signer()
        let secret = try await signer.world.post(
            "/connect/token",
            form: [
                ("grant_type", "client_credentials"), ("client_id", "signer"),
                ("client_secret", "guess"),
            ])
        #expect(secret.json["error"] == "invalid_client")
        let none = try await signer.world.post(
            "/connect/token",
            form: [("grant_type", "client_credentials"), ("client_id", "signer")])
        #expect(none.json["error"] == "invalid_client")
        let keys = try await Signer(
            .es256,
            metadata: [
                "jwks": .null, "jwks_uri": "https://signer.example/keys",
            ])
        let answer = try await keys.send(try keys.assertion())
        #expect(answer.json["error"] == "invalid_client", "Nothing is there to be fetched.")
    }
}
