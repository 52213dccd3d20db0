import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import OneTimeCodes
import Testing
import Values

@testable import API

/// A realm that lets people in by invites, an app of it, and services that may invite.
private struct InviteWorld {
    let world: SignInWorld
    let app = UUID.random()
    let otherApp = UUID.random()

    init(_ settings: JSONObject = ["registration": "invite_code"]) async throws {
        world = try await SignInWorld(settings)
        try await world.carryOut(AppChange.create(app, slug: "shop", name: "Shop"))
        try await world.carryOut(AppChange.create(otherApp, slug: "desk", name: "Desk"))
        try await register("shop", "invite:write invite:read", app)
        try await register("reader", "invite:read", app)
        try await register("stranger", "invite:write invite:read", otherApp)
        try await register("house", "invite:write invite:read", nil)
    }

    private func register(_ name: String, _ scope: String, _ app: UUID?) async throws {
        let digest = try #require(SecretDigest(SHA256.hash(Array(SignInWorld.secret.utf8))))
        var metadata: JSONObject = [
            "grant_types": ["client_credentials"], "scope": .string(scope),
        ]
        metadata["app_id"] = app.map { .string($0.description) }
        try await world.carryOut(
            RegisterClient(id: UUID.random(), clientID: name, metadata: metadata, secret: digest))
    }

    func token(_ client: String, _ scope: String = "invite:read") async throws -> String {
        let answer = try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials"), ("scope", scope)],
            basic: "\(client):\(SignInWorld.secret)".replacing(" ", with: "+"))
        return try #require(answer.json["access_token"]?.string)
    }

    func create(
        as client: String = "shop", scope: String = "invite:write", for app: UUID? = nil,
        _ members: JSONObject = ["Count": 1]
    ) async throws -> Answered {
        try await world.call(
            .post, "/api/app/\(app ?? self.app)/invite-codes",
            as: try await token(client, scope), json: .object(members))
    }

    func list(as client: String = "shop", for app: UUID? = nil) async throws -> Answered {
        try await world.call(
            .get, "/api/app/\(app ?? self.app)/invite-codes", as: try await token(client))
    }

    func revoke(_ id: JSON?, as client: String = "shop", for app: UUID? = nil) async throws
        -> Answered
    {
        try await world.call(
            .delete, "/api/app/\(app ?? self.app)/invite-codes/\(id?.string ?? "")",
            as: try await token(client, "invite:write"))
    }

    /// How many codes were mailed once somebody had asked for one.
    func ask(_ email: String, _ code: JSON?) async throws -> Int {
        var members: JSONObject = ["Email": .string(email)]
        members["InviteCode"] = code
        let answer = try await world.requestCode(members)
        #expect(answer.status == .ok)
        #expect(
            answer.json["Message"]
                == "If your email is registered, you will receive a verification code.")
        return try await world.events().count { $0 == "otp.issued" }
    }
}

extension Answered {
    fileprivate var codes: [JSON] { json["InviteCodes"]?.array ?? [] }
}

@Suite struct `MOD-17: Invite codes` {
    @Test func `MOD-17: invite codes are made by an app's service and shown once`() async throws {
        let invites = try await InviteWorld()
        let made = try await invites.create(["Count": 3, "ExpiresInDays": 2])
        #expect(made.status == .ok)
        #expect(made.codes.count == 3 && Set(made.codes.map { $0["Code"] }).count == 3)
        let listed = try await invites.list()
        #expect(
            Set(listed.json.array?.compactMap { $0["Id"] } ?? [])
                == Set(made.codes.compactMap { $0["Id"] }))
        #expect(listed.json.array?.first?["Code"] == nil)
        let events = try await invites.world.log.events(
            from: 1, limit: .max, in: invites.world.realm)
        let open = events.map { String(decoding: JSON.object($0.open).canonical(), as: UTF8.self) }
            .joined()
        for code in made.codes.compactMap({ $0["Code"]?.string }) {
            #expect(!open.contains(code) && !open.contains(code.replacing("-", with: "")))
        }
        #expect(try await invites.create(["Count": 0]).status == .badRequest)
        #expect(try await invites.create(["Count": 101]).status == .badRequest)
        #expect(try await invites.create([:]).status == .badRequest)
        #expect(
            try await invites.create(["Count": 1, "BoundEmail": "no address"]).status
                == .badRequest)
    }

    @Test func `MOD-17: invite codes are made and revoked once per idempotency key`() async throws {
        let invites = try await InviteWorld()
        let path = "/api/app/\(invites.app)/invite-codes"
        func ask(
            _ method: HTTP.Method = .post, _ place: String? = nil, as client: String = "shop",
            key: String? = "k 1".replacing(" ", with: "-"), count: Int64 = 2
        ) async throws -> Answered {
            var headers: Headers = [
                "Host": "id.acme.example",
                "Authorization": "Bearer \(try await invites.token(client, "invite:write"))",
            ]
            headers["Idempotency-Key"] = key
            if method == .post { headers["Content-Type"] = "application/json" }
            let body: JSON = ["Count": .integer(count)]
            return try await invites.world.send(
                Request(
                    method: method, path: place ?? path, query: nil, headers: headers,
                    body: method == .post ? body.canonical() : [], source: "203.0.113.7",
                    id: "request-6"))
        }
        let first = try await ask()
        #expect(first.status == .ok && first.codes.count == 2)
        #expect(try await ask().json == first.json)
        #expect(try await invites.world.events().count { $0 == "invite.created" } == 2)
        let reused = try await ask(count: 3)
        #expect(reused.status == .unprocessable)
        #expect(reused.json["title"] == "IdempotencyKeyReused")
        // Another service's key is another key, and so is none.
        #expect(try await ask(as: "house").json != first.json)
        #expect(try await ask(key: nil).json != first.json)
        let place = "\(path)/\(first.codes.first?["Id"]?.string ?? "")"
        for _ in 0..<2 { #expect(try await ask(.delete, place, key: "d").status == .noContent) }
        #expect(try await ask(.delete, place, key: "e").status == .notFound)
        #expect(try await ask(key: "").status == .badRequest)
        // Fifty at once with one key make what one makes.
        let answers = try await withThrowingTaskGroup(of: JSON.self) { group in
            for _ in 0..<50 { group.addTask { try await ask(key: "race").json } }
            return try await group.reduce(into: Set<JSON>()) { $0.insert($1) }
        }
        #expect(answers.count == 1)
    }

    @Test func `MOD-17: invite codes are refused to other apps, other scopes and people`()
        async throws
    {
        let invites = try await InviteWorld()
        let id = try await invites.create().codes.first?["Id"]
        for answer in [
            try await invites.create(as: "stranger"),
            try await invites.create(as: "reader", scope: "invite:read"),
            try await invites.list(as: "stranger"),
            try await invites.revoke(id, as: "stranger"),
            try await invites.create(for: invites.otherApp),
        ] {
            #expect(answer.status == .forbidden)
        }
        #expect(
            try await invites.revoke(id, as: "stranger", for: invites.otherApp).status
                == .notFound)
        #expect(try await invites.list(as: "stranger", for: invites.otherApp).json == [])
        #expect(try await invites.create(as: "house", for: .random()).status == .notFound)
        #expect(try await invites.create(as: "house").status == .ok)
        let path = "/api/app/\(invites.app)/invite-codes"
        #expect(try await invites.world.call(.get, path, as: nil).status == .unauthorized)
        #expect(try await invites.world.call(.get, path, as: "x").status == .unauthorized)
        try await invites.world.carryOut(RealmChange.setSettings(["registration": "jit_on_otp"]))
        let person = try await invites.world.token()
        let refused = try await invites.world.call(.get, path, as: person)
        #expect(refused.status == .forbidden)
        #expect(refused.json["detail"] == "The caller has no permission for this.")
    }

    @Test func `MOD-17: invite codes can be revoked until they are used`() async throws {
        let invites = try await InviteWorld()
        let house = try await invites.world.inviteForAll()
        let made = try await invites.create(["Count": 2]).codes
        #expect(try await invites.revoke(made.first?["Id"]).status == .noContent)
        #expect(try await invites.revoke(made.first?["Id"]).status == .notFound)
        #expect(try await invites.list().json.array?.count == 1)
        #expect(try await invites.revoke(.string(house.id.description)).status == .notFound)
        #expect(try await invites.ask("ann@example.org", .string(house.code)) == 1)
        await #expect(throws: InviteChange.RevokeRejection.used) {
            try await invites.world.carryOut(InviteChange.revoke(house.id))
        }
    }

    @Test func `MOD-17: invite codes are listed by id, page by page`() async throws {
        let invites = try await InviteWorld()
        let made = try await invites.create(["Count": 5]).codes.compactMap { $0["Id"]?.string }
        let token = try await invites.token("shop")
        var seen: [String] = []
        while seen.count < 5 {
            let after = seen.last.map { "&after=\($0)" } ?? ""
            let answer = try await invites.world.send(
                Request(
                    method: .get, path: "/api/app/\(invites.app)/invite-codes",
                    query: "limit=2\(after)",
                    headers: ["Host": "id.acme.example", "Authorization": "Bearer \(token)"],
                    body: [], source: "203.0.113.7", id: "request-5"))
            let page = answer.json.array?.compactMap { $0["Id"]?.string } ?? []
            #expect((1...2).contains(page.count))
            if page.isEmpty { break }
            seen += page
        }
        #expect(seen == made.sorted())
    }
}

extension SignInWorld {
    /// An invite that is good everywhere in the realm.
    func inviteForAll(
        email: String? = nil
    ) async throws -> (id: UUID, code: String) {
        let code = try #require(mint.inviteCodes(1, of: .random()).first)
        let id = mint.invite(code)
        try await carryOut(
            CreateInvites(
                invites: [id], mailbox: email.map(mint.mailbox), now: clock.next()))
        return (id, code.text)
    }
}

@Suite struct `MOD-03: Joining by an invite code` {
    @Test
    func `MOD-03: an invite code mails a sign-in code to the first who types it, in any form`()
        async throws
    {
        let invites = try await InviteWorld()
        let world = invites.world
        #expect(try await invites.ask("ann@example.org", nil) == 0)
        #expect(try await invites.ask("ann@example.org", "no code") == 0)
        #expect(try await invites.ask("ann@example.org", "0000-0000-0000") == 0)
        let invite = try await world.inviteForAll()
        let typed = " " + invite.code.lowercased().replacing("-", with: " ") + " "
        #expect(try await invites.ask("ann@example.org", .string(typed)) == 1)
        #expect(try await invites.ask("bob@example.org", .string(invite.code)) == 1, "It is used.")
        let answer = try await world.redeem(try await world.mailedCode())
        #expect(answer.status == .ok)
        let names = try await world.events().filter {
            ["invite.used", "mailbox.invited", "otp.issued", "account.registered"].contains($0)
        }
        #expect(
            names == ["invite.used", "mailbox.invited", "otp.issued", "account.registered"])
    }

    @Test func `MOD-03: an invite code bound to an address is for that address in any spelling`()
        async throws
    {
        let invites = try await InviteWorld()
        let invite = try await invites.world.inviteForAll(email: "ann@example.org")
        #expect(try await invites.ask("bob@example.org", .string(invite.code)) == 0)
        #expect(try await invites.ask(" ANN@Example.ORG ", .string(invite.code)) == 1)
    }

    @Test func `MOD-03: an invite code used fifty times at once admits one person`() async throws {
        let invites = try await InviteWorld()
        let invite = try await invites.world.inviteForAll()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<50 {
                group.addTask {
                    _ = try await invites.ask("p\(index)@example.org", .string(invite.code))
                }
            }
            try await group.waitForAll()
        }
        let events = try await invites.world.events()
        #expect(events.count { $0 == "invite.used" } == 1)
        #expect(events.count { $0 == "otp.issued" } == 1)
    }

    @Test(arguments: [
        ("off", 0, 0), ("jit_on_otp", 1, 1), ("explicit_endpoint", 0, 0), ("invite_code", 0, 1),
    ])
    func `MOD-03: an invite code is needed exactly where the posture says so`(
        _ posture: String, _ without: Int, _ with: Int
    ) async throws {
        let invites = try await InviteWorld(["registration": .string(posture)])
        let invite = try await invites.world.inviteForAll()
        #expect(try await invites.ask("ann@example.org", nil) == without)
        let again = try await invites.ask("bob@example.org", .string(invite.code))
        #expect(again == without + with)
        let answer = try await invites.world.post(
            "/api/account/native/register",
            json: ["Email": "cyd@example.org", "InviteCode": .string(invite.code)])
        #expect(answer.status == .ok)
        let total = try await invites.world.events().count { $0 == "otp.issued" }
        #expect(total == again + (posture == "explicit_endpoint" ? 1 : 0))
    }
}
