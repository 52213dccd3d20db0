import Cryptography
import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private let verifier = "a-verifier-of-at-least-forty-three-characters-0"
private let challenge = Base64URL.encode(SHA256.hash(Array(verifier.utf8)))

/// An app of the realm's own that asks people itself.
private struct OwnApp: Sendable {
    let world: SignInWorld

    init(_ metadata: JSONObject = [:], _ settings: JSONObject = [:]) async throws {
        world = try await SignInWorld(
            settings.merging(["registration": "jit_on_otp"]) { own, _ in own })
        let usual: JSONObject = [
            "grant_types": ["authorization_code", "urn:cocoar:otp", "refresh_token"],
            "redirect_uris": ["org.example.own:/back"], "consent": "none",
        ]
        try await world.registerPhone("own", usual.merging(metadata) { $1 })
    }

    func ask(
        _ members: [(name: String, value: String)], session: JSON? = nil, client: String = "own"
    ) async throws -> Answered {
        var form = [(name: "client_id", value: client)] + members
        if let session = session?["auth_session"]?.string {
            form.append(("auth_session", session))
        } else {
            form += [
                ("code_challenge", challenge), ("code_challenge_method", "S256"),
                ("scope", "openid email offline_access"),
            ]
        }
        return try await world.post("/connect/challenge", form: form)
    }

    func code() async throws -> String {
        let asked = try await ask([("username", "ann@example.org")]).json
        let done = try await ask([("otp_code", try await world.mailedCode())], session: asked)
        return try #require(done.json["authorization_code"]?.string)
    }

    func redeem(
        _ code: String, verifier: String? = verifier, client: String = "own",
        _ more: [(name: String, value: String)] = []
    ) async throws -> Answered {
        var form = [
            (name: "grant_type", value: "authorization_code"), (name: "client_id", value: client),
            (name: "code", value: code),
        ]
        if let verifier { form.append(("code_verifier", verifier)) }
        return try await world.post("/connect/token", form: form + more)
    }
}

@Suite struct `The challenge endpoint` {
    @Test func `the challenge endpoint asks for more until the sign-in is complete`() async throws {
        let app = try await OwnApp()
        let first = try await app.ask([])
        #expect(first.status == .badRequest)
        #expect(first.json["error"] == "insufficient_authorization")
        let asked = try await app.ask([("username", " Ann@Example.org ")], session: first.json)
        #expect(asked.json["error"] == "insufficient_authorization")
        #expect(asked.json["auth_session"] != first.json["auth_session"])
        let wrong = try await app.ask([("otp_code", "000000")], session: asked.json)
        #expect(wrong.json["error"] == "insufficient_authorization")
        let done = try await app.ask(
            [("otp_code", try await app.world.mailedCode())], session: wrong.json)
        #expect(done.status == .ok)
        let code = try #require(done.json["authorization_code"]?.string)
        let tokens = try await app.redeem(code)
        #expect(tokens.status == .ok && tokens.json["refresh_token"] != nil)
        let who = try await app.world.userInfo(tokens.json["access_token"]?.string ?? "")
        #expect(who.json["email"] == "ann@example.org")
        #expect(try await app.redeem(code).json["error"] == "invalid_grant", "Once.")
        let dead = try await app.world.introspect(tokens.json["access_token"]?.string ?? "")
        #expect(dead == ["active": false])
    }

    @Test func `the challenge endpoint needs the verifier and no redirect`() async throws {
        let app = try await OwnApp()
        let code = try await app.code()
        for verifier in [nil, verifier + "x"] {
            let answer = try await app.redeem(code, verifier: verifier)
            #expect(answer.json["error"] == "invalid_grant")
        }
        let redirected = try await app.redeem(
            try await OwnApp().code(), [("redirect_uri", "org.example.own:/back")])
        #expect(redirected.json["error"] == "invalid_grant")
        let bare = try await app.world.post(
            "/connect/challenge", form: [("client_id", "own"), ("username", "ann@example.org")])
        #expect(bare.json["error"] == "invalid_request")
    }

    @Test func `the challenge endpoint answers the same for known and unknown people`() async throws
    {
        let app = try await OwnApp([:], ["registration": "off"])
        let before = try await app.world.events()
        for name in ["nobody@example.org", "no address", "ann@example.org"] {
            let answer = try await app.ask([("username", name)])
            #expect(answer.json["error"] == "insufficient_authorization")
            #expect(
                Set((answer.json.object ?? [:]).keys)
                    == ["error", "error_description", "auth_session"])
        }
        #expect(try await app.world.events() == before)
    }

    @Test func `the challenge endpoint's session is its client's own and expires`() async throws {
        let app = try await OwnApp()
        try await app.world.registerPhone(
            "twin",
            [
                "grant_types": ["authorization_code", "urn:cocoar:otp"],
                "redirect_uris": ["org.example.twin:/back"], "consent": "none",
            ])
        let asked = try await app.ask([("username", "ann@example.org")]).json
        let code = try await app.world.mailedCode()
        let stolen = try await app.ask([("otp_code", code)], session: asked, client: "twin")
        #expect(stolen.json["error"] == "invalid_session")
        for forged in ["x", (asked["auth_session"]?.string ?? "") + "A"] {
            let answer = try await app.ask(
                [("otp_code", code)], session: ["auth_session": .string(forged)])
            #expect(answer.json["error"] == "invalid_session")
        }
        app.world.clock.advance(seconds: 901)
        let late = try await app.ask([("otp_code", code)], session: asked)
        #expect(late.json["error"] == "invalid_session")
        let early = try await app.ask([("otp_code", code)])
        #expect(early.json["error"] == "invalid_request", "Whose code is it?")
    }

    @Test
    func `the challenge endpoint checks that the app is the realm's own before anything else`()
        async throws
    {
        for metadata in [
            ["consent": "needed"], ["grant_types": ["authorization_code", "refresh_token"]],
            ["grant_types": ["urn:cocoar:otp"]],
        ] as [JSONObject] {
            let app = try await OwnApp(metadata)
            let before = try await app.world.events()
            let answer = try await app.ask([("username", "ann@example.org")])
            #expect(answer.json["error"] == "unauthorized_client", "\(metadata)")
            let sentence = answer.json["error_description"]?.string ?? ""
            #expect(sentence.contains("consent") == (metadata["consent"] != nil), "\(sentence)")
            #expect(try await app.world.events() == before)
        }
        let closed = try await OwnApp([:], ["native_grants": false])
        #expect(try await closed.ask([]).json["error"] == "unsupported_grant_type")
        let said = try await closed.world.get("/.well-known/openid-configuration").json
        #expect(said["authorization_challenge_endpoint"] == nil)
    }

    @Test func `the challenge endpoint limits guesses`() async throws {
        let app = try await OwnApp()
        let asked = try await app.ask([("username", "ann@example.org")]).json
        let code = try await app.world.mailedCode()
        for _ in 0..<3 {
            _ = try await app.ask([("otp_code", code == "000000" ? "1" : "000000")], session: asked)
        }
        let late = try await app.ask([("otp_code", code)], session: asked)
        #expect(late.json["error"] == "insufficient_authorization", "Three guesses a code.")
    }
}

@Suite struct `A key-bound code` {
    @Test func `a code bound to a key is redeemed with that key alone`() async throws {
        let app = try await OwnApp()
        let (key, thief) = (try SigningKey.pooled(.es256), try SigningKey.pooled(.es256))
        func proof(_ path: String, _ key: SigningKey) throws -> String {
            try KeyProof.signed(
                by: key, method: "POST", address: "http://id.acme.example\(path)",
                id: "\(UUID.random())", issuedAt: app.world.clock.next())
        }
        func send(
            _ path: String, _ form: [(name: String, value: String)], _ key: SigningKey?
        ) async throws -> Answered {
            var headers: Headers = [
                "Host": "id.acme.example", "Content-Type": "application/x-www-form-urlencoded",
            ]
            headers["DPoP"] = try key.map { try proof(path, $0) }
            return try await app.world.send(
                Request(
                    method: .post, path: path, query: nil, headers: headers,
                    body: Array(Form.encode(form).utf8), source: "203.0.113.7", id: "request-11"))
        }
        /// A code that was asked for with the key, and what redeems it.
        func redeeming() async throws -> [(name: String, value: String)] {
            app.world.clock.advance(seconds: 1000)
            let asked = try await send(
                "/connect/challenge",
                [
                    ("client_id", "own"), ("username", "ann@example.org"),
                    ("code_challenge", challenge), ("code_challenge_method", "S256"),
                    ("scope", "openid"),
                ], key
            ).json
            let typed = [
                (name: "client_id", value: "own"),
                (name: "auth_session", value: asked["auth_session"]?.string ?? ""),
                (name: "otp_code", value: try await app.world.mailedCode()),
            ]
            for other in [nil, thief] {
                let answer = try await send("/connect/challenge", typed, other)
                #expect(answer.json["error"] == "invalid_session")
            }
            let done = try await send("/connect/challenge", typed, key)
            let code = try #require(done.json["authorization_code"]?.string)
            return [
                (name: "grant_type", value: "authorization_code"),
                (name: "client_id", value: "own"), (name: "code", value: code),
                (name: "code_verifier", value: verifier),
            ]
        }
        for other in [nil, thief] {
            let stolen = try await send("/connect/token", try await redeeming(), other)
            #expect(stolen.status == .badRequest && stolen.json["access_token"] == nil)
            #expect(stolen.json["error"] == "invalid_grant")
        }
        let tokens = try await send("/connect/token", try await redeeming(), key)
        #expect(tokens.json["token_type"] == "DPoP")
        let second = try await OwnApp()
        let free = try await second.code()
        let bound = try #require(second.world.mint.readAuthorizationCode(free))
        #expect(bound.key == nil)
    }
}

@Suite struct `The challenge endpoint with a passkey` {
    private func ask(
        _ world: PasskeyWorld, _ more: [(name: String, value: String)], client: String = "wallet"
    ) async throws -> Answered {
        try await world.world.post(
            "/connect/challenge",
            form: [
                ("client_id", client), ("scope", "openid"), ("code_challenge", challenge),
                ("code_challenge_method", "S256"),
            ] + more)
    }

    private func world(_ grants: [String]) async throws -> (PasskeyWorld, SoftKey) {
        let world = try await PasskeyWorld(client: [
            "grant_types": .array(
                (["authorization_code", "refresh_token"] + grants).map { .string($0) }),
            "redirect_uris": ["org.example.wallet:/back"], "consent": "none",
        ])
        let key = try SoftKey(of: world.account)
        #expect(try await world.enroll(key).status.code < 300)
        return (world, key)
    }

    @Test func `the challenge endpoint gives a code for a passkey once, and the token says so`()
        async throws
    {
        let (world, key) = try await world(["urn:cocoar:otp", "urn:cocoar:passkey"])
        let begun = try await world.begin()
        let shown = [
            (name: "ceremony_id", value: begun.id),
            (name: "assertion", value: try key.assertion(begun)),
        ]
        let answer = try await ask(world, shown)
        let code = try #require(answer.json["authorization_code"]?.string, "\(answer.json)")
        let again = try await ask(world, shown)
        #expect(again.json["error"] == "insufficient_authorization")
        let tokens = try await world.world.post(
            "/connect/token",
            form: [
                ("grant_type", "authorization_code"), ("client_id", "wallet"), ("code", code),
                ("code_verifier", verifier),
            ])
        let token = try #require(tokens.json["id_token"]?.string, "\(tokens.json)")
        #expect(try payload(of: token)["acr"] == "urn:modgud:acr:multi")
        #expect(try payload(of: token)["sub"] == .string(world.account.description))
    }

    @Test
    func `the challenge endpoint refuses another person's passkey or another client's ceremony`()
        async throws
    {
        let (world, key) = try await world(["urn:cocoar:otp", "urn:cocoar:passkey"])
        let begun = try await world.begin()
        let stranger = try SoftKey(of: world.account)
        let foreign = try await world.begin("other")
        for (id, assertion) in [
            (begun.id, try stranger.assertion(begun)), (foreign.id, try key.assertion(foreign)),
            (begun.id, "{}"), ("nonsense", try key.assertion(begun)),
        ] {
            let answer = try await ask(world, [("ceremony_id", id), ("assertion", assertion)])
            #expect(answer.status.code >= 400 && answer.json["authorization_code"] == nil)
        }
    }

    @Test func `the challenge endpoint takes passkeys only of clients that may use them`()
        async throws
    {
        let (world, key) = try await world(["urn:cocoar:otp", "urn:cocoar:passkey"])
        try await world.world.registerPhone(
            "plain",
            [
                "grant_types": ["authorization_code", "urn:cocoar:otp"],
                "redirect_uris": ["org.example.plain:/back"], "consent": "none",
            ])
        let begun = try await world.begin(nil)
        let answer = try await ask(
            world, [("ceremony_id", begun.id), ("assertion", try key.assertion(begun))],
            client: "plain")
        #expect(answer.json["error"] == "unauthorized_client")
    }
}
