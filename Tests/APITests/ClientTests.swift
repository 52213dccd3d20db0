import Cryptography
import EventSourcing
import HTTP
import JSON
import Testing
import Values

@testable import API
@testable import Identity

@Suite struct `A client over HTTP` {
    private let path = "/api/admin/realms/acme/clients"
    private let web: JSON = ["client_name": "A", "redirect_uris": ["https://a.example/back"]]

    @Test func `a client registered over HTTP gets a secret that is shown once`() async throws {
        let world = try await World()
        let made = try await world.make(path, web)
        let id = try #require(made.json["client_id"]?.string)
        let secret = try #require(made.json["client_secret"]?.string)
        #expect(made.json["client_secret_expires_at"] == 0)
        #expect(made.json["token_endpoint_auth_method"] == "client_secret_basic")
        #expect(made.json["grant_types"] == ["authorization_code"])
        #expect(made.json["response_types"] == ["code"])
        #expect(made.response.headers["Location"] == "\(path)/\(id)")
        let shown = try await world.send(.get, "\(path)/\(id)")
        #expect(shown.json["client_secret"] == nil)
        #expect(shown.json["client_id_issued_at"] == made.json["client_id_issued_at"])
        // Neither the log nor a line has it; the log has the digest of the text.
        let realm = try #require(RealmID("acme"))
        let events = try await world.log.events(from: 1, limit: 100, in: realm)
        let digest = Base64URL.encode(SHA256.hash(Array(secret.utf8)))
        #expect(events.contains { $0.open["secret_digest"] == .string(digest) })
        #expect(!events.contains { JSON.object($0.open).canonical().contains(secret) })
        #expect(!world.lines.all.contains { $0.contains(secret) })
    }

    @Test(arguments: ["none", "private_key_jwt"])
    func `a client registered over HTTP without secret authentication gets no secret`(
        _ method: String
    ) async throws {
        let world = try await World()
        var body = web.object ?? [:]
        body["token_endpoint_auth_method"] = .string(method)
        if method != "none" { body["jwks_uri"] = "https://a.example/keys" }
        let made = try await world.make(path, .object(body))
        #expect(made.json["client_secret"] == nil)
        let id = try #require(made.json["client_id"]?.string)
        let rotated = try await world.send(.post, "\(path)/\(id)/rotate-secret")
        #expect(rotated.problem == .clientHasNoSecret)
    }

    /// Its own tokens would name that person. The name that Urd makes for it is no account's.
    @Test func `a client over HTTP cannot be registered under an account's id`() async throws {
        let world = try await World()
        let person = try await world.make(
            "/api/admin/realms/acme/accounts", ["email": "ann@example.org"])
        let account = try #require(person.json["id"]?.string)
        for name in [account, account.uppercased(), account.replacing("-", with: "")] {
            var body = web.object ?? [:]
            body["client_id"] = .string(name)
            let answer = try await world.send(.post, path, body: .object(body))
            #expect(answer.problem == .invalidField && answer.json["field"] == "client_id")
        }
        let made = try await world.make(path, web)
        #expect(made.json["client_id"]?.string.flatMap { UUID($0) } != nil)
    }

    @Test func `a client over HTTP is replaced as a whole by PUT`() async throws {
        let world = try await World()
        var body = web.object ?? [:]
        body["contacts"] = ["ops@a.example"]
        body["client_uri"] = "https://a.example"
        let made = try await world.make(path, .object(body))
        let id = try #require(made.json["client_id"]?.string)
        let shown = try await world.send(.get, "\(path)/\(id)")
        #expect(shown.json["contacts"] == ["ops@a.example"])
        let listed = try await world.send(.get, path)
        #expect(!listed.response.body.contains("ops@a.example"))

        let replaced = try await world.send(.put, "\(path)/\(id)", body: web)
        #expect(replaced.json["contacts"] == nil)
        #expect(replaced.json["client_uri"] == nil)
        #expect(replaced.json["client_secret"] == nil)
        #expect(try await world.send(.get, "\(path)/\(id)").json == replaced.json)
    }

    @Test func `a client over HTTP is changed only in the members that the request names`()
        async throws
    {
        let world = try await World()
        var body = web.object ?? [:]
        body["contacts"] = ["ops@a.example"]
        body["scope"] = "openid email"
        body["token_endpoint_auth_method"] = "none"
        let made = try await world.make(path, .object(body))
        let one = "\(path)/" + (try #require(made.json["client_id"]?.string))

        let changed = try await world.send(
            .patch, one, body: ["consent": "none", "scope": .null])
        #expect(changed.status == .ok)
        var wanted = made.json.object ?? [:]
        (wanted["consent"], wanted["scope"]) = ("none", nil)
        #expect(changed.json == .object(wanted))
        #expect(try await world.send(.get, one).json == changed.json)

        let method: JSON = ["token_endpoint_auth_method": "client_secret_basic"]
        let kept = try await world.send(.patch, one, body: method, idempotencyKey: "k")
        let secret = try #require(kept.json["client_secret"]?.string)
        let again = try await world.send(.patch, one, body: method, idempotencyKey: "k")
        #expect(again.json["client_secret"]?.string == secret)
        #expect(try await world.send(.patch, one, body: method).json["client_secret"] == nil)
        let wrong = try await world.send(.patch, one, body: ["redirect_uris": []])
        #expect(wrong.problem == .missingField && wrong.field == "redirect_uris")
    }

    @Test func `a client over HTTP gets a secret when its authentication begins to need it`()
        async throws
    {
        let world = try await World()
        var body = web.object ?? [:]
        body["token_endpoint_auth_method"] = "none"
        let made = try await world.make(path, .object(body))
        let id = try #require(made.json["client_id"]?.string)
        let put = try await world.send(.put, "\(path)/\(id)", body: web, idempotencyKey: "k")
        let secret = try #require(put.json["client_secret"]?.string)
        let again = try await world.send(.put, "\(path)/\(id)", body: web, idempotencyKey: "k")
        #expect(again.json["client_secret"]?.string == secret)
        let other = try await world.send(.put, "\(path)/\(id)", body: web)
        #expect(other.json["client_secret"] == nil)
    }

    @Test func `a client's secret rotated over HTTP is another one each time`() async throws {
        let world = try await World()
        let made = try await world.make(path, web)
        let id = try #require(made.json["client_id"]?.string)
        let first = try await world.send(.post, "\(path)/\(id)/rotate-secret")
        let second = try await world.send(.post, "\(path)/\(id)/rotate-secret")
        let secrets = [made, first, second].map { $0.json["client_secret"]?.string }
        #expect(Set(secrets).count == 3)
        #expect(!secrets.contains(nil))
    }

    @Test func `a client can be disabled, enabled and deleted over HTTP`() async throws {
        let world = try await World()
        let made = try await world.make(path, web)
        let one = "\(path)/" + (try #require(made.json["client_id"]?.string))
        #expect(try await world.send(.post, one + "/disable").json["enabled"] == false)
        #expect(try await world.send(.post, one + "/enable").json["enabled"] == true)
        #expect(try await world.send(.delete, one).status == .noContent)
        for (method, path) in [
            (Method.get, one), (.delete, one), (.post, one + "/disable"), (.post, one + "/enable"),
            (.post, one + "/rotate-secret"),
        ] {
            #expect(try await world.send(method, path).problem == .noSuchClient, "\(path)")
        }
        #expect(try await world.send(.put, one, body: web).problem == .noSuchClient)
    }

    @Test func `a client's registration may choose its client id, once`() async throws {
        let world = try await World()
        var body = web.object ?? [:]
        body["client_id"] = "web.shop~1"
        let made = try await world.make(path, .object(body))
        #expect(made.json["client_id"] == "web.shop~1")
        #expect(try await world.send(.get, "\(path)/web.shop~1").status == .ok)
        let taken = try await world.send(.post, path, body: .object(body))
        #expect(taken.problem == .clientExists)
        #expect(taken.field == "client_id")
        #expect(try await world.send(.delete, "\(path)/web.shop~1").status == .noContent)
        #expect(try await world.make(path, .object(body)).json["client_id"] == "web.shop~1")
    }

    @Test func `replacing a client over HTTP takes nothing but metadata`() async throws {
        let world = try await World()
        let id = try #require(world.names["client_id"])
        for name in [
            "client_id", "client_secret", "enabled", "client_id_issued_at", "secret_digest",
            "registration_access_token",
        ] {
            var body = web.object ?? [:]
            body[name] = .string(id)
            let answer = try await world.send(.put, "\(path)/\(id)", body: .object(body))
            #expect(answer.problem == .unknownField)
            #expect(answer.field == name)
        }
    }

    @Test(
        arguments: [
            (["redirect_uris": ["https://a.example/#x"]], "redirect_uris/0"),
            (["redirect_uris": ["https://a.example/", "javascript:alert(1)"]], "redirect_uris/1"),
            (["redirect_uris": ["http://a.example/"]], "redirect_uris/0"),
            (["redirect_uris": ["https://u:p@a.example/"]], "redirect_uris/0"),
            (["redirect_uris": []], "redirect_uris"),
            (["grant_types": ["client_credentials", "refresh_token"]], "grant_types/1"),
            (["grant_types": []], "grant_types"), (["grant_types": ["password"]], "grant_types/0"),
            (["jwks": ["keys": [["kty": "oct", "k": "AA"]]]], "jwks"),
            (["jwks": ["keys": []], "jwks_uri": "https://a.example/k"], "jwks"),
            (["scope": "a\"b"], "scope"), (["client_name": "\u{202E}evil"], "client_name"),
            (["app_id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a99"], "app_id"),
            (["access_token_lifetime": 1], "access_token_lifetime"),
        ] as [(JSON, String)])
    func `invalid client metadata are refused with the member at fault`(
        _ members: JSON, _ field: String
    ) async throws {
        let world = try await World()
        let body = JSON.object((web.object ?? [:]).merging(members.object ?? [:]) { $1 })
        for answer in [
            try await world.send(.post, path, body: body),
            try await world.send(.put, "\(path)/\(world.names["client_id"] ?? "")", body: body),
        ] {
            #expect(answer.status == .badRequest)
            #expect(answer.field == field, "\(answer.json)")
        }
    }

    @Test func `a client over HTTP needs an existing, enabled realm`() async throws {
        let world = try await World()
        let id = try #require(world.names["client_id"])
        let routes: [(Method, String, JSON?)] = [
            (.post, "", web), (.put, "/\(id)", web), (.delete, "/\(id)", nil),
            (.patch, "/\(id)", web),
            (.post, "/\(id)/disable", nil), (.post, "/\(id)/enable", nil),
            (.post, "/\(id)/rotate-secret", nil),
        ]
        for (method, rest, body) in routes {
            let answer = try await world.send(
                method, "/api/admin/realms/nowhere/clients" + rest, body: body)
            #expect(answer.problem == .noSuchRealm)
        }
        _ = try await world.send(.post, "/api/admin/realms/acme/disable")
        for (method, rest, body) in routes {
            let answer = try await world.send(method, path + rest, body: body)
            #expect(answer.problem == .realmDisabled)
        }
        #expect(try await world.send(.get, "\(path)/\(id)").status == .ok)
    }

    @Test func `the client schema has every field that the domain knows`() {
        for field in MetadataField.all {
            #expect(ClientSchema.members.contains { $0.name == field.name })
        }
        for setting in SettingCatalogue.all {
            guard case .object(let rule) = SettingSchema.realm.resolved else { return }
            #expect(rule[setting.name] != nil)
        }
    }
}
