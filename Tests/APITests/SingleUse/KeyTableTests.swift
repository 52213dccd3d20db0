import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

/// The third table of docs/single-use.md: what is bound to a key stays bound.
@Suite struct `What is bound to a key` {
    enum Row: String, CaseIterable, CustomTestStringConvertible {
        case code = "authorization code with `dpop_jkt`, or a proof at PAR"
        case opening =
            "any grant that opens a session of a client without a secret, with a proof"
        case unboundToken = "refresh token of such a client that is not bound yet, with a proof"
        case clientWithSecret = "refresh token of a client with a secret"
        case exchange = "token exchange"
        case answers = "client credentials, device code, assertions"
        case requestTokens =
            "token of the profile `federation` that signs requests (device, person, service)"
        case bearerTokens =
            "bearer token of that profile (another app; OpenID for a service or an app with a key of its own)"
        case demanding = "a client with `dpop_bound_access_tokens`"

        var testDescription: String { rawValue }

        /// The tests of other modules and of the command line that show it.
        var testsElsewhere: [String] {
            switch self {
            case .exchange:
                [
                    "an exchanged token needs the key of every bound token",
                    "a token exchange proves the key of a bound token and binds the new one to it",
                ]
            case .requestTokens:
                [
                    "a token that signs requests is refreshed as such a token alone",
                    "test_edu_15_tokens_that_sign_requests_and_bearer_tokens_are_refreshed_apart",
                ]
            case .bearerTokens:
                [
                    "each kind of token is refreshed where it was given alone",
                    "test_edu_15_a_services_tokens_are_refreshed_where_they_were_given_alone",
                ]
            case .code, .opening, .unboundToken, .clientWithSecret, .answers, .demanding: []
            }
        }
    }

    @Test func `docs/single-use.md has a row for each way to be bound, with tests that there are`()
        throws
    {
        let rows = try DocumentTable.rows(of: "single-use.md", under: "grant")
        #expect(rows.map { $0[0] } == Row.allCases.map(\.rawValue))
        #expect(rows.allSatisfy { $0.count == 3 })
        for name in Row.allCases.flatMap(\.testsElsewhere) {
            #expect(DocumentTable.testNames.contains(name), "\(name)")
        }
    }

    @Test(arguments: Row.allCases.filter(\.testsElsewhere.isEmpty))
    func `what is bound to a key is not good without it, as its row says`(row: Row) async throws {
        switch row {
        case .code: try await code()
        case .opening: try await openings()
        case .unboundToken: try await unboundToken()
        case .clientWithSecret: try await clientWithSecret()
        case .answers: try await answers()
        case .demanding: try await demanding()
        case .exchange, .requestTokens, .bearerTokens: Issue.record("Tests elsewhere show it.")
        }
    }

    private func form(_ code: String) -> Pairs {
        [
            ("grant_type", "authorization_code"), ("code", code), ("client_id", "web"),
            ("client_secret", SignInWorld.secret), ("redirect_uri", AuthorizeWorld.back),
            ("code_verifier", AuthorizeWorld.verifier),
        ]
    }

    private func code() async throws {
        for isPushed in [false, true] {
            let site = try await AuthorizeWorld()
            try await site.signIn()
            let (client, key) = (KeyedClient(of: site.world), try ProofKey())
            func code() async throws -> String {
                guard isPushed else {
                    return try await site.code(
                        AuthorizeWorld.request([("dpop_jkt", key.thumbprint)]))
                }
                return try await site.code(try await push(site, key))
            }
            let first = form(try await code())
            let kept = await client.ask(first, try client.proof(key))
            #expect(kept.status == .ok && kept.json["token_type"] == "DPoP", "\(kept.json)")
            for proofs in [[], try client.proof(try ProofKey())] {
                let next = form(try await code())
                #expect(await client.ask(next, proofs).status == .badRequest)
                let late = await client.ask(next, try client.proof(key))
                #expect(late.json["error"] == "invalid_grant", "It is used up.")
            }
        }
    }

    private func push(_ site: AuthorizeWorld, _ key: ProofKey) async throws -> Pairs {
        let path = "/connect/par"
        let proof = try key.proof([
            "jti": .string("\(UUID.random())"), "htm": "POST",
            "htu": .string("http://id.acme.example\(path)"),
            "iat": .integer(site.world.clock.next().seconds),
        ])
        let fields = AuthorizeWorld.request() + [("client_secret", SignInWorld.secret)]
        let pushed = Answered(
            await site.world.router.respond(
                to: Request(
                    method: .post, path: path, query: nil,
                    headers: [
                        "Host": "id.acme.example", "DPoP": proof,
                        "Content-Type": "application/x-www-form-urlencoded",
                    ], body: Array(Form.encode(fields).utf8), source: "203.0.113.7",
                    id: "request-1")))
        let uri = try #require(pushed.json["request_uri"]?.string, "\(pushed.json)")
        return [("client_id", "web"), ("request_uri", uri)]
    }

    /// A client without a secret, and the tokens that it got with a proof.
    private func opened(
        by grant: String, _ key: ProofKey
    ) async throws -> (client: KeyedClient, id: String, answer: Answered) {
        let device = "urn:ietf:params:oauth:grant-type:device_code"
        guard grant != "authorization_code" else {
            let site = try await AuthorizeWorld()
            try await site.signIn()
            let client = KeyedClient(of: site.world)
            let back = "http://127.0.0.1/back"
            let request = AuthorizeWorld.request([("client_id", "app"), ("redirect_uri", back)])
            let fields: Pairs = [
                ("grant_type", grant), ("code", try await site.code(request)),
                ("client_id", "app"), ("redirect_uri", back),
                ("code_verifier", AuthorizeWorld.verifier),
            ]
            return (client, "app", await client.ask(fields, try client.proof(key)))
        }
        let client = try await KeyedClient()
        let world = client.world
        let metadata: JSONObject = [
            "client_name": "All", "token_endpoint_auth_method": "none",
            "application_type": "native",
            "grant_types": [
                .string(device), "urn:cocoar:otp", "urn:cocoar:magic", "refresh_token",
            ],
        ]
        try await world.register("all", metadata)
        let token = try #require(try await world.signIn("app").json["access_token"]?.string)
        var fields: Pairs = [
            ("grant_type", grant), ("client_id", "all"), ("scope", "openid offline_access"),
        ]
        switch grant {
        case "urn:cocoar:otp":
            _ = try await world.requestCode(["Email": "ann@example.org"])
            fields += [
                ("username", "ann@example.org"), ("otp_code", try await world.mailedCode()),
            ]
        case "urn:cocoar:magic":
            _ = try await world.requestLink(["Email": "ann@example.org"])
            let link = try await world.mailedLink()
            fields += [
                ("user_id", link["userId"] ?? ""), ("magic_token", link["token"] ?? ""),
            ]
        default:
            let begun = try await world.post(
                "/connect/deviceauthorization",
                form: [("client_id", "all"), ("scope", "openid offline_access")]
            ).json
            _ = try await world.call(
                .post, "/api/account/device", bearer: token,
                ["UserCode": begun["user_code"] ?? .null, "Approve": true])
            fields = [
                ("grant_type", grant), ("client_id", "all"),
                ("device_code", begun["device_code"]?.string ?? ""),
            ]
        }
        return (client, "all", await client.ask(fields, try client.proof(key)))
    }

    private func openings() async throws {
        for grant in [
            "urn:cocoar:otp", "urn:cocoar:magic", "authorization_code",
            "urn:ietf:params:oauth:grant-type:device_code",
        ] {
            let key = try ProofKey()
            let (client, id, answer) = try await opened(by: grant, key)
            #expect(answer.json["token_type"] == "DPoP", "\(grant): \(answer.json)")
            let token = try #require(answer.json["refresh_token"]?.string, "\(grant)")
            let fields: Pairs = [
                ("grant_type", "refresh_token"), ("client_id", id), ("refresh_token", token),
            ]
            for proofs in [[], try client.proof(try ProofKey())] {
                #expect(await client.ask(fields, proofs).json["error"] == "invalid_grant")
            }
            #expect(try await client.end() == nil)
            let next = await client.ask(fields, try client.proof(key))
            #expect(next.status == .ok && next.json["token_type"] == "DPoP", "\(grant)")
        }
    }

    private func unboundToken() async throws {
        let (client, key) = (try await KeyedClient(), try ProofKey())
        let first = try await client.signIn(nil)
        let second = try #require(try await client.refresh(first, by: key))
        #expect(try await client.refresh(second, by: nil) == nil)
        #expect(try await client.end() == nil, "It is refused and ends nothing.")
        let third = try #require(try await client.refresh(second, by: key))
        #expect(try await client.refresh(third, by: try ProofKey()) == nil)
        // A repeat binds nothing.
        let other = try await KeyedClient()
        let parent = try await other.signIn(nil)
        let leaf = try #require(try await other.refresh(parent, by: nil))
        #expect(try await other.refresh(parent, by: key) == leaf)
        #expect(try await other.refresh(leaf, by: nil) != nil)
        // The one before comes back without the key: two have it.
        let shared = try await KeyedClient()
        let before = try await shared.signIn(nil)
        _ = try #require(try await shared.refresh(before, by: key))
        #expect(try await shared.refresh(before, by: nil) == nil)
        #expect(try await shared.end() == "reuse")
    }

    private func clientWithSecret() async throws {
        let client = try await KeyedClient()
        try await client.world.register(
            "backend",
            [
                "grant_types": ["urn:cocoar:otp", "refresh_token"],
                "token_endpoint_auth_method": "client_secret_post",
            ], secret: "hush")
        _ = try await client.world.requestCode(["Email": "ann@example.org"])
        let own: Pairs = [("client_id", "backend"), ("client_secret", "hush")]
        let key = try ProofKey()
        var answer = await client.ask(
            own + [
                ("grant_type", "urn:cocoar:otp"), ("username", "ann@example.org"),
                ("otp_code", try await client.world.mailedCode()),
                ("scope", "openid offline_access"),
            ], try client.proof(key))
        #expect(answer.json["token_type"] == "DPoP")
        for (isProved, type) in [(false, "Bearer"), (true, "DPoP"), (false, "Bearer")] {
            let token = try #require(answer.json["refresh_token"]?.string, "\(answer.json)")
            answer = await client.ask(
                own + [("grant_type", "refresh_token"), ("refresh_token", token)],
                isProved ? try client.proof(key) : [])
            #expect(answer.json["token_type"]?.string == type)
        }
    }

    private func answers() async throws {
        let client = try await KeyedClient()
        try await client.world.register(
            "jobs",
            [
                "grant_types": ["client_credentials"], "scope": "jobs",
                "token_endpoint_auth_method": "client_secret_post",
            ], secret: "hush")
        let form: Pairs = [
            ("grant_type", "client_credentials"), ("client_id", "jobs"), ("client_secret", "hush"),
        ]
        let key = try ProofKey()
        let bound = await client.ask(form, try client.proof(key))
        #expect(bound.json["token_type"] == "DPoP")
        let access = try #require(bound.json["access_token"]?.string)
        #expect(try await client.world.introspect(access)["cnf"]?["jkt"]?.string == key.thumbprint)
        #expect(await client.ask(form, []).json["token_type"] == "Bearer")
    }

    private func demanding() async throws {
        let client = try await KeyedClient([:], ["dpop_bound_access_tokens": true])
        _ = try await client.world.requestCode(["Email": "ann@example.org"])
        let form: Pairs = [
            ("grant_type", "urn:cocoar:otp"), ("client_id", "app"),
            ("username", "ann@example.org"), ("otp_code", try await client.world.mailedCode()),
            ("scope", "openid offline_access"),
        ]
        #expect(await client.ask(form, []).status == .badRequest)
        let key = try ProofKey()
        let answer = await client.ask(form, try client.proof(key))
        #expect(answer.json["token_type"] == "DPoP", "\(answer.json)")
        let token = try #require(answer.json["refresh_token"]?.string)
        let refresh: Pairs = [
            ("grant_type", "refresh_token"), ("client_id", "app"), ("refresh_token", token),
        ]
        #expect(await client.ask(refresh, []).status == .badRequest)
        #expect(await client.ask(refresh, try client.proof(key)).json["token_type"] == "DPoP")
    }
}
