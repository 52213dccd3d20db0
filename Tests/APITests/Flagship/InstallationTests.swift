import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `A self-registered flagship app` {
    private static let plain: JSONObject = [
        "redirect_uris": ["cozy://"], "client_name": "Phone", "software_id": "amiral",
    ]

    @Test func `COZ-01: a flagship registration returns all metadata, with a name made distinct`()
        async throws
    {
        let world = try await FlagshipWorld()
        let said = Self.plain.merging([
            "client_kind": "mobile", "client_os": "iOS", "software_version": "1.2",
            "client_uri": "https://example.org", "notification_platform": "ios",
            "notification_device_token": "0011", "logo_uri": "",
        ]) { own, _ in own }
        let first = try await world.send(.post, "/auth/register", json: .object(said))
        #expect(first.status == .created)
        for (name, value) in said where value != .string("") {
            #expect(first.json[name] == value, "\(name)")
        }
        #expect(first.json["client_id"]?.string?.utf8.count == 32)
        #expect(first.json["client_secret_expires_at"] == 0)
        #expect(first.json["grant_types"] == ["authorization_code", "refresh_token"])
        #expect(first.json["response_types"] == ["code"])
        #expect(first.json["registration_access_token"]?.string != nil)
        #expect(first.json["flagship"] == nil)
        for name in ["Phone-2", "Phone-3"] {
            let next = try await world.send(.post, "/auth/register", json: .object(Self.plain))
            #expect(next.json["client_name"] == .string(name))
        }
    }

    @Test
    func `COZ-01: a faulty flagship registration is refused in the profile's order and words`()
        async throws
    {
        let world = try await FlagshipWorld()
        func refused(
            _ change: JSONObject, headers: Headers = [:]
        ) async throws -> (Int, JSON) {
            let body = Self.plain.merging(change) { $1 }
            let answer = try await world.send(
                .post, "/auth/register", json: .object(body), headers: headers)
            return (answer.status.code, answer.json["error"] ?? .null)
        }
        let cases: [(JSONObject, String)] = [
            (["redirect_uris": []], "invalid_redirect_uri"),
            (["redirect_uris": .null], "invalid_redirect_uri"),
            (["redirect_uris": ["cozy://a#b"]], "invalid_redirect_uri"),
            (["redirect_uris": ["javascript:alert(1)"]], "invalid_redirect_uri"),
            (["redirect_uris": ["https://id.acme.example/x"]], "invalid_redirect_uri"),
            (["client_name": ""], "invalid_client_metadata"),
            (["software_id": .null], "invalid_client_metadata"),
            (["notification_platform": "smoke"], "invalid_client_metadata"),
            (["client_uri": "ftp://example.org"], "invalid_client_metadata"),
        ]
        for (change, code) in cases {
            let answer = try await refused(change)
            #expect(answer == (400, .string(code)), "\(change)")
        }
        #expect(try await refused(["allow_login_scope": true]).0 == 401)
        #expect(try await refused([:], headers: ["Accept": "text/html"]).0 == 400)
        #expect(try await refused([:], headers: ["Authorization": "null"]).0 == 201)
        #expect(try await world.happened("client.registered").count == 3)
    }

    @Test func `COZ-01: a flagship registration over its rate is answered 404`() async throws {
        let world = try await FlagshipWorld([
            "rate_limits": ["installation": ["target": ["amount": 2, "seconds": 3600]]]
        ])
        _ = try await world.register()
        let app = try await world.register()
        let third = try await world.send(.post, "/auth/register", json: .object(Self.plain))
        #expect(third.status == .notFound)
        #expect(third.json["error"] == "Not found")
        let challenge = try await world.send(
            .post, "/auth/clients/\(app.id)/challenge", bearer: app.token)
        #expect(challenge.status == .notFound)
    }

    @Test func `COZ-02: a flagship app manages itself by its registration token alone`()
        async throws
    {
        let world = try await FlagshipWorld()
        let (app, other) = (try await world.register(), try await world.register("Tablet"))
        let path = "/auth/register/\(app.id)"
        let found = try await world.send(.get, path, bearer: app.token)
        #expect(found.status == .ok)
        #expect(found.json["client_secret"] == .string(app.secret))
        #expect(found.json["client_secret_expires_at"] == 0)
        #expect(found.json["registration_access_token"] == nil)
        for token in [other.token, "x", nil] {
            let refused = try await world.send(.get, path, bearer: token)
            #expect(refused.status == .unauthorized)
            #expect(refused.json["error"] == "invalid_token")
        }
        let unknown = try await world.send(
            .get, "/auth/register/00000000000000000000000000000000", bearer: app.token)
        #expect(unknown.status == .notFound)
        #expect(unknown.json["error"] == "Client not found")
        let updated = try await world.send(
            .put, path, json: app.update(["client_os": "iOS 26"]), bearer: app.token)
        #expect(updated.status == .ok)
        #expect(updated.json["client_os"] == "iOS 26")
        #expect(updated.json["client_secret"] == .string(app.secret))
        let clash = try await world.send(
            .put, path, json: app.update(["client_name": "Tablet"]), bearer: app.token)
        #expect(clash.status == .ok && clash.json["client_name"] == "Tablet-2")
        let again = try await world.send(
            .put, path, json: app.update(["client_name": "Tablet"]), bearer: app.token)
        #expect(again.status == .ok && again.json["client_name"] == "Tablet-2")
    }

    @Test func `COZ-02: a flagship app rotates its own secret, and no other client's`() async throws
    {
        let world = try await FlagshipWorld()
        let app = try await world.register()
        let path = "/auth/register/\(app.id)"
        for (change, code): (JSONObject, JSON) in [
            (["client_id": "other"], "invalid_client_id"),
            (["client_secret": "wrong"], "invalid_client_secret"),
        ] {
            let refused = try await world.send(
                .put, path, json: app.update(change), bearer: app.token)
            #expect(refused.status == .badRequest)
            #expect(refused.json["error"] == code)
        }
        let rotated = try await world.send(
            .put, path, json: app.update(["client_secret": .string(app.secret)]),
            bearer: app.token)
        let secret = try #require(rotated.json["client_secret"]?.string)
        #expect(secret != app.secret)
        #expect(try await world.onboard(app).json["error"] == "invalid client_secret")
        var renewed = app
        renewed.secret = secret
        #expect(try await world.onboard(renewed).status == .accepted)
        #expect(try await world.login(app).json["error"] == "invalid client_secret")
        #expect(try await world.login(renewed).status == .accepted)
        // What is in force is said again, and the next one is yet another.
        let found = try await world.send(.get, path, bearer: app.token)
        #expect(found.json["client_secret"] == .string(secret))
        let updated = try await world.send(
            .put, path, json: app.update(["client_os": "iOS"]), bearer: app.token)
        #expect(updated.json["client_secret"] == .string(secret))
        let next = try await world.send(
            .put, path, json: app.update(["client_secret": .string(secret)]), bearer: app.token)
        let third = try #require(next.json["client_secret"]?.string)
        #expect(Set([app.secret, secret, third]).count == 3)
    }

    /// Clients put the answer in the place of what they knew.
    @Test func `COZ-02: a flagship app refreshes with the secret that an update returned`()
        async throws
    {
        let world = try await FlagshipWorld()
        var app = try await world.certified()
        let refresh = try #require(
            try await world.onboard(app).json["refresh_token"]?.string)
        let path = "/auth/register/\(app.id)"
        for change: JSONObject in [["notification_device_token": "0011"], ["client_os": "iOS"]] {
            let answer = try await world.send(
                .put, path, json: app.update(change), bearer: app.token)
            app.secret = answer.json["client_secret"]?.string ?? ""
            #expect(try await world.refresh(app, refresh).status == .ok)
        }
        let read = try await world.send(.get, path, bearer: app.token)
        app.secret = read.json["client_secret"]?.string ?? ""
        #expect(try await world.refresh(app, refresh).status == .ok)
        // The list of devices is for others, too.
        let access = try #require(
            try await world.refresh(app, refresh).json["access_token"]?.string)
        let list = try await world.send(.get, "/settings/clients", bearer: access)
        let listed = try #require(list.json["data"]?.array?.first?["attributes"])
        #expect(listed["client_name"] == "Phone" && listed["client_secret"] == nil)
    }

    /// As it was rotated before secrets followed from their number, or by an administrator.
    @Test
    func `COZ-02: an update returns a new secret where the present one cannot be shown`()
        async throws
    {
        let world = try await FlagshipWorld()
        let app = try await world.register()
        let id = try #require(UUID(bytes: Hex.decode(app.id) ?? []))
        let old = "made up elsewhere"
        try await world.world.carryOut(
            ClientChange.rotateSecret(id, secret: try #require(SecretDigest.ofSecret(old))))
        let path = "/auth/register/\(app.id)"
        let found = try await world.send(.get, path, bearer: app.token)
        #expect(found.status == .ok && found.json["client_secret"] == nil)
        let updated = try await world.send(.put, path, json: app.update([:]), bearer: app.token)
        var renewed = app
        renewed.secret = try #require(updated.json["client_secret"]?.string)
        #expect(renewed.secret != old && renewed.secret != app.secret)
        #expect(try await world.onboard(renewed).status == .accepted)
        renewed.secret = old
        #expect(try await world.login(renewed).json["error"] == "invalid client_secret")
    }

    @Test func `COZ-02: twenty simultaneous updates of a flagship app return one new secret`()
        async throws
    {
        let world = try await FlagshipWorld()
        let app = try await world.register()
        let path = "/auth/register/\(app.id)"
        let secrets = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await world.send(
                        .put, path, json: app.update(["client_secret": .string(app.secret)]),
                        bearer: app.token
                    ).json["client_secret"]?.string
                }
            }
            return try await group.reduce(into: [String]()) { $0 += [$1].compactMap(\.self) }
        }
        #expect(secrets.count == 1)
        #expect(try await world.happened("client.secret_rotated").count == 1)
        let found = try await world.send(.get, path, bearer: app.token)
        #expect(found.json["client_secret"]?.string == secrets.first)
    }

    @Test func `COZ-02: deleting a flagship app ends its tokens, and can be repeated`() async throws
    {
        let world = try await FlagshipWorld()
        let app = try await world.certified()
        let token = try #require(
            try await world.onboard(app).json["access_token"]?.string)
        let path = "/auth/register/\(app.id)"
        #expect(try await world.send(.delete, path, bearer: "x").status == .unauthorized)
        #expect(try await world.sessionCode(token).status == .created)
        #expect(try await world.send(.delete, path, bearer: app.token).status == .noContent)
        #expect(try await world.send(.delete, path, bearer: app.token).status == .noContent)
        #expect(try await world.send(.delete, path).status == .noContent)
        let dead = try await world.sessionCode(token)
        #expect(dead.status == .badRequest)
        #expect(dead.json["error"] == "Invalid JWT token")
        #expect(try await world.login(app).json["error"] == "the client must be registered")
        // Its name is free again.
        #expect(
            try await world.send(.post, "/auth/register", json: .object(Self.plain)).json[
                "client_name"] == "Phone")
    }

    @Test func `COZ-03: a flagship app without a token or a code is forgotten after an hour`()
        async throws
    {
        let world = try await FlagshipWorld()
        let (app, adopted) = (try await world.certified(), try await world.register("Tablet"))
        #expect(try await world.onboard(adopted).status == .accepted)
        world.world.clock.advance(seconds: 3_500)
        let path = "/auth/register/\(app.id)"
        #expect(try await world.send(.get, path, bearer: app.token).status == .ok)
        world.world.clock.advance(seconds: 100)
        #expect(try await world.send(.get, path, bearer: app.token).status == .notFound)
        #expect(try await world.login(app).json["error"] == "the client must be registered")
        #expect(try await world.login(adopted).status == .accepted)
        let id = try #require(UUID(bytes: Hex.decode(app.id) ?? []))
        let now = world.world.clock.next()
        try await world.world.carryOut(InstallationChange.forget(id, now: now))
        #expect(try await world.register().id != app.id)
        let kept = try #require(UUID(bytes: Hex.decode(adopted.id) ?? []))
        await #expect(throws: InstallationChange.ForgetRejection.notLapsed) {
            try await world.world.carryOut(InstallationChange.forget(kept, now: now))
        }
    }

    @Test func `COZ-03: a flagship app with an unredeemed code is kept`() async throws {
        let world = try await FlagshipWorld()
        let first = try await world.register("First")
        _ = try await world.onboard(first)
        let (asked, other) = (try await world.certified(), try await world.certified("Denied"))
        let session = try #require(try await world.login(first).json["session_code"]?.string)
        let request = InstallationRequest(app: asked)
        let browser = try await world.browser(session, at: request.place)
        try await browser.follow()
        let refused = InstallationRequest(app: other)
        try await browser.submit("/auth/authorize", refused.pairs + [("decision", "deny")])
        try await browser.get(request.place)
        let allowed = try await browser.submit(
            "/auth/authorize", request.pairs + [("decision", "allow")])
        let code = try FlagshipWorld.code(in: allowed.response.headers["Location"])
        #expect(try await world.happened("owner.device_added").last?.open["client_name"] == "Phone")
        world.world.clock.advance(seconds: 7_200)
        // The code is over; the client is not.
        #expect(try await world.redeem(asked, code).json["error"] == "invalid code")
        let path = "/auth/register/\(asked.id)"
        #expect(try await world.send(.get, path, bearer: asked.token).status == .ok)
        let gone = try await world.send(.get, "/auth/register/\(other.id)", bearer: other.token)
        #expect(gone.status == .notFound)
        let id = try #require(UUID(bytes: Hex.decode(asked.id) ?? []))
        await #expect(throws: InstallationChange.ForgetRejection.notLapsed) {
            try await world.world.carryOut(
                InstallationChange.forget(id, now: world.world.clock.next()))
        }
    }

    @Test func `a flagship app exists in its own realm alone`() async throws {
        let world = try await FlagshipWorld(["profile": "standard"])
        for (method, path): (Method, String) in [
            (.post, "/auth/register"), (.get, "/public/prelogin"),
            (.post, "/auth/login/flagship"), (.post, "/auth/session_code"),
        ] {
            #expect(
                try await world.send(method, path, json: method == .post ? [:] : nil).status
                    == .notFound, "\(path)")
        }
        #expect(try await world.send(.get, "/.well-known/openid-configuration").status == .ok)
    }

    @Test func `COZ-08: a flagship app gets no tokens by any other grant`() async throws {
        let world = try await FlagshipWorld()
        let app = try await world.certified()
        for grant in GrantType.allCases {
            let answer = try await world.send(
                .post, "/connect/token",
                form: [
                    ("grant_type", grant.rawValue), ("client_id", app.id),
                    ("client_secret", app.secret), ("scope", "*"), ("username", "a@b.example"),
                    ("otp_code", "123456"), ("code", "x"), ("refresh_token", "x"),
                ])
            #expect(answer.status.code >= 400, "\(grant)")
        }
    }
}

extension TestInstallation {
    func update(_ change: JSONObject) -> JSON {
        .object(
            ([
                "client_id": .string(id), "redirect_uris": ["cozy://"], "client_name": "Phone",
                "software_id": "amiral",
            ] as JSONObject).merging(change) { $1 })
    }
}
