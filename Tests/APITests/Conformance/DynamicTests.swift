import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

/// The modules of the certification of OpenID providers that clients register themselves at.
@Suite struct `OIDC dynamic` {
    @Test func `OIDC dynamic 01: a registered client gets ID tokens under RS256`() async throws {
        let client = try await Dynamic(["id_token_signed_response_alg": "RS256"])
        let text = try #require(try await client.tokens().json["id_token"]?.string)
        #expect(try header(of: text)["alg"] == "RS256")
    }

    @Test func `OIDC dynamic 02: a registered client gets ID tokens under ES256`() async throws {
        let client = try await Dynamic(["id_token_signed_response_alg": "ES256"])
        let answer = try await client.tokens()
        let text = try #require(answer.json["id_token"]?.string)
        #expect(try header(of: text)["alg"] == "ES256")
        #expect(try await client.idToken(answer).subject == client.world.ann.description)
    }

    @Test(arguments: [
        "id_token_signed_response_alg", "userinfo_signed_response_alg",
        "request_object_signing_alg",
    ])
    func `OIDC dynamic 03: a registration with the algorithm none is refused`(name: String)
        async throws
    {
        let answer = try await Dynamic.register(try await Dynamic.site(), [name: "none"])
        #expect(answer.json["error"] == "invalid_client_metadata")
        #expect(answer.status == .badRequest)
    }

    @Test(arguments: ["RS256", "ES256"])
    func `OIDC dynamic 04: userinfo_signed_response_alg signs user info`(name: String) async throws
    {
        let client = try await Dynamic(["userinfo_signed_response_alg": .string(name)])
        let tokens = try await client.tokens()
        let info = try await client.world.world.userInfo(
            try #require(tokens.json["access_token"]?.string))
        #expect(info.response.headers["Content-Type"] == "application/jwt")
        let text = String(decoding: info.response.body, as: UTF8.self)
        let verified = try JWS.verify(
            text, by: try await client.world.world.keySet(),
            rules: JWS.Rules(types: TokenTypes(["userinfo+jwt"])))
        let claims = try Claims(payload: verified.payload)
        #expect(try header(of: text)["alg"]?.string == name)
        #expect(claims.issuer == AuthorizeWorld.issuer && claims.audience == [client.id])
        #expect(claims.subject == (try await client.idToken(tokens).subject))
    }

    @Test
    func `OIDC dynamic 05: a request without redirect_uri is refused where two are registered`()
        async throws
    {
        let client = try await Dynamic([
            "redirect_uris": [.string(Dynamic.back), "https://web.example/other"]
        ])
        #expect(try await client.isTold([("redirect_uri", "-")]))
    }

    @Test
    func `OIDC dynamic 05: a request without redirect_uri is refused where one is registered`()
        async throws
    {
        let client = try await Dynamic()
        #expect(try await client.isTold([("redirect_uri", "-")]))
        // OAuth alone lets it be left out.
        #expect(try await !client.isTold([("redirect_uri", "-"), ("scope", "email")]))
    }

    @Test func `OIDC dynamic 06: a redirect URI registered with a query is accepted`() async throws
    {
        let place = Dynamic.back + "?foo=bar"
        let client = try await Dynamic(["redirect_uris": [.string(place)]])
        let answer = try await client.world.authorize(
            client.request([("redirect_uri", place), ("prompt", "none")]))
        #expect(try client.world.fault(answer) == "consent_required")
        let page = String(decoding: answer.response.body, as: UTF8.self)
        #expect(page.contains("\(place)&amp;error=consent_required"))
    }

    @Test func `OIDC dynamic 07: a redirect URI with another or an added query is refused`()
        async throws
    {
        let place = Dynamic.back + "?foo=bar"
        let client = try await Dynamic(["redirect_uris": [.string(place)]])
        for other in [Dynamic.back, place + "&x=1", Dynamic.back + "?foo=baz"] {
            #expect(try await client.isTold([("redirect_uri", other)]), "\(other)")
        }
        let plain = try await Dynamic()
        #expect(try await plain.isTold([("redirect_uri", Dynamic.back + "?foo=bar")]))
    }

    @Test func `OIDC dynamic 08: a redirect URI with a fragment is refused`() async throws {
        let answer = try await Dynamic.register(
            try await Dynamic.site(), ["redirect_uris": [.string(Dynamic.back + "#foo")]])
        #expect(answer.json["error"] == "invalid_redirect_uri" && answer.status == .badRequest)
    }

    @Test func `OIDC dynamic 09: logo_uri, policy_uri and tos_uri are kept and shown`() async throws
    {
        let said: JSONObject = [
            "logo_uri": "https://web.example/logo.png",
            "policy_uri": "https://web.example/privacy", "tos_uri": "https://web.example/terms",
        ]
        let client = try await Dynamic(said)
        for (name, value) in said { #expect(client.made[name] == value) }
        let browser = PageBrowser(client.world.world)
        try await browser.get("/connect/authorize?\(Form.encode(client.request()))")
        try await browser.follow()
        #expect(browser.shows("https://web.example/privacy"))
        #expect(browser.shows("https://web.example/terms"))
        #expect(browser.shows("src=\"/login/logo?continue="))
        #expect(!browser.shows("https://web.example/logo.png"), "Nobody's browser goes there.")
    }

    @Test func `OIDC dynamic 09: a logo must be a picture and is fetched once`() async throws {
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]
        for (bytes, type) in [
            (png, "image/png"), ([0xFF, 0xD8, 0xFF, 0xE0], "image/jpeg"),
            (Array("GIF89a".utf8), "image/gif"), (Array("RIFF1234WEBPVP8 ".utf8), "image/webp"),
            (Array("<svg onload='x()'/>".utf8), nil), (Array("<html>".utf8), nil), ([], nil),
            (png + [UInt8](repeating: 0, count: 70_000), nil),
        ] as [([UInt8], String?)] {
            let asked = Served(0)
            let site = try await AuthorizeWorld(
                ["client_registration": "open"],
                fetchKeys: { _ in
                    asked.document = .integer((asked.document.integer ?? 0) + 1)
                    return bytes
                })
            let client = try await Dynamic(["logo_uri": "https://web.example/logo"], site)
            let (_, members) = try site.sent(try await site.authorize(client.request()))
            let sealed = try #require(members["continue"])
            for _ in 0..<3 {
                let answer = try await site.visit("/login/logo", [("continue", sealed)])
                #expect((answer.status == .ok) == (type != nil))
                guard let type else { continue }
                #expect(answer.response.headers["Content-Type"] == type)
                #expect(answer.response.body == bytes)
                #expect(
                    answer.response.headers["Content-Security-Policy"]
                        == "default-src 'none'; sandbox")
            }
            #expect(asked.document == 1)
            let forged = try await site.visit("/login/logo", [("continue", sealed + "A")])
            #expect(forged.status == .notFound)
        }
    }

    @Test func `OIDC dynamic 10: keys are accepted by jwks and by jwks_uri`() async throws {
        let key = try SigningKey.pooled(.es256)
        let set = KeySet([key.verificationKey]).document
        let site = try await Dynamic.site(["https://web.example/keys": set])
        for members in [["jwks": set], ["jwks_uri": "https://web.example/keys"]] as [JSONObject] {
            let client = try await Dynamic(
                members.merging(["token_endpoint_auth_method": "private_key_jwt"]) { $1 }, site)
            let answer = try await client.assert(by: key)
            #expect(answer.status == .ok, "\(answer.json)")
        }
        let both = try await Dynamic.register(
            site, ["jwks": set, "jwks_uri": "https://web.example/keys"])
        #expect(both.json["error"] == "invalid_client_metadata")
    }

    @Test func `OIDC dynamic 11: a sector_identifier_uri must list all redirect URIs`() async throws
    {
        let places: JSON = [.string(Dynamic.back), "https://other.example/back"]
        let site = try await Dynamic.site([
            "https://sector.example/uris": places,
            "https://sector.example/few": [
                .string(Dynamic.back)
            ], "https://sector.example/odd": ["redirect_uris": places],
        ])
        let pairwise: JSONObject = ["redirect_uris": places, "subject_type": "pairwise"]
        func register(_ sector: JSON) async throws -> Answered {
            try await Dynamic.register(
                site, pairwise.merging(["sector_identifier_uri": sector]) { $1 })
        }
        #expect(try await register("https://sector.example/uris").status.code == 201)
        for bad: JSON in [
            "https://sector.example/few", "https://sector.example/odd",
            "https://sector.example/none", "http://sector.example/uris",
            "http://127.0.0.1/uris", .null,
        ] {
            let answer = try await register(bad)
            #expect(answer.status == .badRequest, "\(bad)")
            #expect(answer.json["error"] == "invalid_client_metadata", "\(bad)")
        }
    }

    @Test func `OIDC dynamic 12: pairwise subjects differ by sector`() async throws {
        let site = try await Dynamic.site()
        let one = try await Dynamic(["subject_type": "pairwise"], site)
        let two = try await Dynamic(["subject_type": "pairwise"], site)
        let far = try await Dynamic(
            ["subject_type": "pairwise", "redirect_uris": ["https://far.example/back"]], site)
        let first = try await one.idToken(try await one.tokens()).subject
        #expect(first != site.ann.description)
        #expect(try await two.idToken(try await two.tokens()).subject == first)
        let code = try await far.code([("redirect_uri", "https://far.example/back")])
        let answer = try await site.redeem(
            code,
            [
                ("client_id", far.id), ("client_secret", far.secret),
                ("redirect_uri", "https://far.example/back"),
            ])
        #expect(try await far.idToken(answer).subject != first)
    }

    @Test func `OIDC dynamic 15: a request object is accepted by value and refused by request_uri`()
        async throws
    {
        let key = try SigningKey.pooled(.rs256)
        let client = try await Dynamic([
            "jwks": KeySet([key.verificationKey]).document, "request_object_signing_alg": "RS256",
        ])
        let answer = try await client.world.authorize(
            client.request([("request_uri", "https://web.example/request.jwt")]))
        #expect(try client.world.fault(answer) == "request_uri_not_supported")
        let claims: JSON = .object(
            JSONObject(client.request().map { ($0.name, .string($0.value)) }).merging([
                "iss": .string(client.id), "aud": .string(AuthorizeWorld.issuer),
                "exp": .integer(client.world.world.clock.next().seconds + 60),
                "prompt": "none",
            ]) { $1 })
        for (signer, error) in [
            (key, "consent_required"), (try SigningKey.generate(.rs256, id: key.id), nil),
        ] as [(SigningKey, String?)] {
            let object = try JWS.sign(
                claims.canonical(), by: signer, type: "oauth-authz-req+jwt")
            let answer = try await client.world.authorize([
                ("client_id", client.id), ("request", object),
            ])
            if let error {
                #expect(try client.world.fault(answer) == error)
            } else {
                #expect(answer.status == .badRequest)
            }
        }
    }

    @Test func `OIDC dynamic 16: a request object needs the algorithm that its client registered`()
        async throws
    {
        let key = try SigningKey.pooled(.es256)
        let client = try await Dynamic([
            "jwks": KeySet([key.verificationKey]).document, "request_object_signing_alg": "RS256",
        ])
        #expect(client.made["request_object_signing_alg"] == "RS256")
        let object = try JWS.sign(
            JSON.object([
                "iss": .string(client.id), "client_id": .string(client.id),
                "aud": .string(AuthorizeWorld.issuer),
                "exp": .integer(client.world.world.clock.next().seconds + 60),
                "response_type": "code", "redirect_uri": .string(Dynamic.back),
            ]).canonical(), by: key, type: "oauth-authz-req+jwt")
        let answer = try await client.world.authorize([
            ("client_id", client.id), ("request", object),
        ])
        #expect(answer.status == .badRequest && answer.response.headers["Location"] == nil)
    }

    @Test func `OIDC dynamic 17: a client assertion for the issuer is accepted`() async throws {
        let key = try SigningKey.pooled(.es256)
        let client = try await Dynamic([
            "jwks": KeySet([key.verificationKey]).document,
            "token_endpoint_auth_method": "private_key_jwt",
        ])
        #expect(try await client.assert(by: key).status == .ok)
        let other = try await client.assert(by: key, audience: "https://other.example")
        #expect(other.json["error"] == "invalid_client")
    }

    @Test func `OIDC dynamic 18: the answer to a registration has all members`() async throws {
        let answer = try await Dynamic.register(try await Dynamic.site(), ["x": 1])
        #expect(answer.status.code == 201)
        #expect(answer.response.headers["Content-Type"] == "application/json")
        #expect(answer.response.headers["Cache-Control"] == "no-store")
        for name in [
            "client_id", "client_secret", "registration_client_uri", "registration_access_token",
        ] { #expect(answer.json[name]?.string != nil, "\(name)") }
        #expect(answer.json["client_secret_expires_at"] == 0 && answer.json["x"] == nil)
    }

    @Test func `OIDC dynamic 19: initiate_login_uri must be https and is echoed`() async throws {
        let address: JSON = "https://web.example/begin"
        #expect(
            try await Dynamic(["initiate_login_uri": address]).made["initiate_login_uri"] == address
        )
        for wrong in ["http://web.example/begin", "javascript:alert(1)", "/begin"] {
            let answer = try await Dynamic.register(
                try await Dynamic.site(), ["initiate_login_uri": .string(wrong)])
            #expect(answer.json["error"] == "invalid_client_metadata", "\(wrong)")
        }
    }

    @Test
    func `OIDC dynamic 20: default_max_age and default_acr_values apply where a request is silent`()
        async throws
    {
        let client = try await Dynamic(["default_max_age": 10])
        #expect(client.made["default_max_age"] == 10)
        client.world.world.clock.advance(seconds: 20)
        func error(_ more: Pairs) async throws -> String? {
            let answer = try await client.world.authorize(
                client.request([("prompt", "none")] + more))
            return try client.world.fault(answer)
        }
        #expect(try await error([]) == "login_required")
        #expect(try await error([("max_age", "1000")]) == "consent_required")
        let strong = try await Dynamic(["default_acr_values": ["urn:modgud:acr:multi"]])
        let answer = try await strong.world.authorize(strong.request())
        #expect(try strong.world.sent(answer).to == "/login")
    }

    @Test func `OIDC dynamic 21: a registration cannot set its own consent or profile`()
        async throws
    {
        let site = try await Dynamic.site()
        for member in [["consent": "none"], ["profile": "voo"], ["login_location": "bare"]]
            as [JSONObject]
        {
            let answer = try await Dynamic.register(site, member)
            #expect(answer.json["error"] == "invalid_client_metadata", "\(member)")
        }
        let client = try await Dynamic([:], site)
        #expect(client.made["consent"] == "needed" && client.made["profile"] == "standard")
        let answer = try await site.authorize(client.request())
        #expect(try site.sent(answer).to == "/consent")
        var members = client.made.object ?? [:]
        for name in [
            "registration_access_token", "registration_client_uri", "client_secret_expires_at",
            "client_id_issued_at",
        ] { members[name] = nil }
        members["consent"] = "none"
        let changed = try await site.world.call(
            .put, client.path, bearer: client.token, .object(members))
        #expect(changed.json["error"] == "invalid_client_metadata")
    }

    @Test
    func `OIDC dynamic 22: a deleted client's tokens, codes and registration token are refused`()
        async throws
    {
        let client = try await Dynamic()
        let (world, site) = (client.world, client.world.world)
        let tokens = try await client.tokens([("scope", "openid offline_access")])
        let code = try await client.code()
        let access = try #require(tokens.json["access_token"]?.string)
        #expect(try await site.userInfo(access).status == .ok)
        #expect(
            try await site.call(.delete, client.path, bearer: client.token).status == .noContent)
        #expect(try await site.userInfo(access).status == .unauthorized)
        #expect(try await site.introspect(access) == ["active": false])
        let late = try await world.redeem(
            code, [("client_id", client.id), ("client_secret", client.secret)])
        #expect(late.status == .unauthorized && late.json["error"] == "invalid_client")
        let refresh = try await site.post(
            "/connect/token",
            form: [
                ("grant_type", "refresh_token"), ("client_id", client.id),
                ("client_secret", client.secret),
                ("refresh_token", tokens.json["refresh_token"]?.string ?? ""),
            ])
        #expect(refresh.json["error"] == "invalid_client")
        for method in [HTTP.Method.get, .put, .delete] {
            let gone = try await site.call(
                method, client.path, bearer: client.token, method == .put ? [:] : nil)
            #expect(gone.status == .unauthorized, "\(method)")
        }
    }
}
