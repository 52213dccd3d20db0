import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

@Suite struct `The kinds of JWT that a realm signs` {
    @Test func `each kind of JWT that a realm signs has a typ of its own`() async throws {
        let world = try await JWTWorld()
        for kind in JWTType.allCases {
            #expect(try JWTWorld.type(try await world.token(kind)) == kind.rawValue)
        }
        #expect(Set(JWTType.allCases.map(\.rawValue)).count == JWTType.allCases.count)
    }

    /// Every cell of the table in `docs/tokens.md`.
    @Test(arguments: JWTReader.allCases)
    func `each kind of JWT is accepted by its own reader and refused by all others`(
        reader: JWTReader
    ) async throws {
        let world = try await JWTWorld()
        for kind in JWTType.allCases {
            let token = try await world.token(kind)
            let isTaken = try await world.takes(token, reader)
            #expect(isTaken == (kind == reader.kind), "\(kind) at \(reader)")
        }
    }

    /// Servers before gave signed user info the `typ` of ID tokens.
    @Test(arguments: [JWTReader.hintAtAuthorize, .hintAtLogout])
    func `each kind of JWT is told from an ID token by its claims as well`(reader: JWTReader)
        async throws
    {
        let world = try await JWTWorld()
        for kind in [
            JWTType.userInfo, .introspection, .logoutToken, .accessToken, .securityEvent,
        ] {
            let token = try await world.signedAgain(try await world.token(kind), as: .idToken)
            #expect(try await !world.takes(token, reader), "\(kind) at \(reader)")
        }
        let token = try await world.signedAgain(try await world.token(.idToken), as: .idToken)
        #expect(try await world.takes(token, reader))
    }
}

extension JWTWorld {
    func takes(_ token: String, _ reader: JWTReader) async throws -> Bool {
        switch reader {
        case .hintAtAuthorize, .hintAtLogout, .userInfo, .guarding, .introspection, .revocation,
            .tenantWorker:
            try await takesAtRoute(token, reader)
        case .exchangedSubject, .exchangedActor: try await exchanges(token, reader)
        case .clientAssertion, .requestObject, .pushedObject, .assertionGrant,
            .softwareStatement, .keyProof:
            try await takesFromOthers(token, reader)
        case .resourceServer, .providersIDToken, .providersLogoutToken:
            try await takesElsewhere(token, reader)
        }
    }

    private func takesAtRoute(_ token: String, _ reader: JWTReader) async throws -> Bool {
        switch reader {
        case .hintAtAuthorize:
            let answer = try await site.authorize(
                Site.request([("prompt", "none"), ("id_token_hint", token)]))
            return try site.sent(answer).with["code"] != nil
        case .hintAtLogout:
            let answer = await visitLogout([
                ("id_token_hint", token), ("post_logout_redirect_uri", Self.bye),
            ])
            if answer.status == .seeOther { try await site.signIn() }
            return answer.response.headers["Location"] == Self.bye
        case .userInfo: return try await world.userInfo(token).status == .ok
        case .guarding:
            let answer = try await world.send(
                Request(
                    method: .get, path: "/connect/guard", query: "client_id=web",
                    headers: ["Host": "id.acme.example", "Authorization": "Bearer \(token)"],
                    body: [], source: "203.0.113.7", id: "request-15"))
            return answer.status == .ok
        case .introspection: return try await world.introspect(token)["active"] == true
        case .tenantWorker:
            let answer = try await world.post(
                "/verify", json: ["oauth_token": ["access_token": .string(token)]])
            return answer.json["success"] == true
        default:
            let living = try await tokens()
            let shown = try Self.claims(token)["sid"]?.string.flatMap { UUID($0) }
            _ = try await world.post(
                "/connect/revoke",
                form: [
                    ("token", token), ("client_id", "web"), ("client_secret", SignInWorld.secret),
                ])
            #expect(try await world.introspect(living.access)["active"] == true)
            guard let shown else { return false }
            let events = try await world.log.stream(shown, after: 0, in: world.realm)
            return events.contains {
                $0.name == "session.ended" && $0.open["reason"] == "revoked"
            }
        }
    }

    /// Like a browser: the answer may take its cookie away.
    private func visitLogout(_ pairs: Pairs) async -> Answered {
        var headers: Headers = ["Host": "id.acme.example"]
        headers["Cookie"] = world.cookie("ann")
        return Answered(
            await world.router.respond(
                to: Request(
                    method: .get, path: "/connect/logout", query: Form.encode(pairs),
                    headers: headers, body: [], source: "203.0.113.9", id: "request-7")))
    }

    private func exchanges(_ token: String, _ reader: JWTReader) async throws -> Bool {
        let type = "urn:ietf:params:oauth:token-type:access_token"
        var form: Pairs = [("grant_type", Self.exchange), ("subject_token_type", type)]
        if reader == .exchangedSubject {
            form.append(("subject_token", token))
        } else {
            form += [
                ("subject_token", try await tokens().access), ("actor_token", token),
                ("actor_token_type", type),
            ]
        }
        let answer = try await world.post("/connect/token", form: form, basic: "gateway:hush")
        // A good token of somebody who may not act is another refusal.
        return answer.json["error_description"]
            != "A token that is to be exchanged is not valid."
    }

    private func takesFromOthers(_ token: String, _ reader: JWTReader) async throws -> Bool {
        switch reader {
        case .clientAssertion:
            for client in ["signer", "web"] {
                let answer = try await world.post(
                    "/connect/token",
                    form: [
                        ("grant_type", "client_credentials"), ("client_id", client),
                        (
                            "client_assertion_type",
                            "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
                        ), ("client_assertion", token),
                    ])
                if answer.status == .ok { return true }
            }
            return false
        case .requestObject:
            let answer = try await site.authorize([
                ("client_id", "web"), ("request", token), ("redirect_uri", Site.back),
                ("response_type", "code"),
            ])
            return try site.sent(answer).with["error"] != "invalid_request_object"
        case .pushedObject:
            let answer = try await world.post(
                "/connect/par",
                form: [
                    ("client_id", "web"), ("client_secret", SignInWorld.secret),
                    ("request", token),
                ])
            return answer.json["error"] != "invalid_request_object"
        case .assertionGrant:
            let answer = try await world.post(
                "/connect/token",
                form: [
                    ("grant_type", Self.bearer), ("client_id", "partner"), ("assertion", token),
                ])
            return answer.json["error"] != "invalid_grant"
        case .softwareStatement:
            let answer = try await world.registerItself(["software_statement": .string(token)])
            return answer.json["error"] != "invalid_software_statement"
        default:
            let answer = try await world.send(
                Request(
                    method: .post, path: "/connect/token", query: nil,
                    headers: [
                        "Host": "id.acme.example", "DPoP": token,
                        "Content-Type": "application/x-www-form-urlencoded",
                        "Authorization":
                            "Basic \(Base64.encode(Array(SignInWorld.serviceBasic.utf8)))",
                    ], body: Array(Form.encode([("grant_type", "client_credentials")]).utf8),
                    source: "203.0.113.7", id: "request-16"))
            return answer.json["error"] != "invalid_dpop_proof"
        }
    }

    private func takesElsewhere(_ token: String, _ reader: JWTReader) async throws -> Bool {
        let (keys, now) = (try await world.keySet(), world.clock.next())
        switch reader {
        case .resourceServer:
            let rules = ClaimRules(issuer: Site.issuer, audience: .includes(Site.issuer))
            return (try? AccessToken.check(token, keys: keys, rules: rules, at: now)) != nil
        case .providersIDToken:
            return
                (try? IDToken.check(
                    token, keys: keys, issuer: Site.issuer, clientID: "web", nonce: nil, at: now))
                != nil
        default:
            return
                (try? LogoutToken.check(
                    token, keys: keys, issuer: Site.issuer, clientID: "web", at: now,
                    algorithms: [.rs256])) != nil
        }
    }
}
