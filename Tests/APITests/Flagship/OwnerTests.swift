import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `The owner of a realm` {
    @Test func `COZ-13: an app learns the owner's parameters once the realm was taken over`()
        async throws
    {
        let world = try await FlagshipWorld()
        let early = try await world.send(.get, "/public/prelogin")
        #expect(early.status == .preconditionFailed)
        #expect(early.json == ["error": "the instance has not been onboarded"])
        _ = try await world.onboard(try await world.register())
        let found = try await world.send(.get, "/public/prelogin")
        #expect(
            found.json == [
                "Kdf": 0, "KdfIterations": 650_000, "OIDC": false, "FranceConnect": false,
                "locale": "en", "magic_link": false, "name": "Camille",
            ])
    }

    @Test func `COZ-17: an owner takes the realm over once, with their own token`() async throws {
        let world = try await FlagshipWorld()
        let app = try await world.certified()
        func onboard(_ change: JSONObject) async throws -> Answered {
            let members: JSONObject = [
                "register_token": .string(world.registerToken),
                "passphrase": .string(FlagshipWorld.hash), "iterations": 100_000,
                "client_id": .string(app.id), "client_secret": .string(app.secret),
            ]
            return try await world.send(
                .post, "/settings/passphrase/flagship",
                json: .object(members.merging(change) { $1 }))
        }
        // Each is wrong in everything that is looked at later as well.
        let other = JSON.string(String(repeating: "0", count: 32))
        let wrong: JSONObject = [
            "register_token": other, "iterations": 1, "client_id": "x", "client_secret": "y",
        ]
        let token = try await onboard(wrong.merging(["register_token": "zz"]) { $1 })
        #expect(token.status == .badRequest)
        #expect(token.response.headers["Content-Type"] == "application/vnd.api+json")
        let rounds = try await onboard(wrong)
        #expect(rounds.status == .unprocessable)
        #expect(
            rounds.json["errors"]?.array?.first?["source"]?["parameter"] == "KdfIterations")
        for number: JSON in [49_999, 5_000_001, "650000", .null] {
            #expect(try await onboard(["iterations": number]).status == .unprocessable)
        }
        let client = try await onboard(wrong.merging(["iterations": 100_000]) { $1 })
        #expect(client.status == .badRequest)
        #expect(client.json["error"] == "the client must be registered")
        let secret = try await onboard(["register_token": other, "client_secret": "y"])
        #expect(secret.json["error"] == "invalid client_secret")
        let last = try await onboard(["register_token": other])
        #expect(last.status == .badRequest)
        #expect(last.json["errors"]?.array?.count == 1)
        let done = try await onboard([:])
        #expect(done.status == .ok)
        #expect(done.json["scope"] == "*")
        #expect(done.json["token_type"] == "bearer")
        #expect(done.json["expires_in"] == nil)
        let again = try await onboard([:])
        #expect(again.status == .badRequest)
        #expect(again.json["errors"]?.array?.count == 1)
        #expect(try await world.happened("owner.onboarded").count == 1)
    }

    @Test func `COZ-17: an owner who takes the realm over fifty times at once does so once`()
        async throws
    {
        let world = try await FlagshipWorld()
        let app = try await world.certified()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask { try await world.onboard(app).status.code }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 200 } == 1)
        #expect(try await world.happened("session.opened").count == 1)
    }

    @Test func `COZ-14: an owner signs in with a certified app; another app gets a web view`()
        async throws
    {
        let world = try await FlagshipWorld()
        let (app, plain) = (try await world.certified(), try await world.register("Plain"))
        let first = try await world.onboard(plain)
        #expect(first.status == .accepted)
        #expect(first.json.object?.keys.sorted() == ["session_code"])
        #expect(first.json["session_code"]?.string?.utf8.count == 32)
        let tokens = try await world.login(app)
        #expect(tokens.status == .ok)
        #expect(
            tokens.json.object?.keys.sorted() == [
                "access_token", "refresh_token", "scope", "token_type",
            ])
        let uncertified = try await world.login(plain)
        #expect(uncertified.status == .accepted)
        #expect(uncertified.json.object?.keys.sorted() == ["session_code"])
    }

    @Test func `COZ-14: an owner's sign-in is checked in the profile's order`() async throws {
        let world = try await FlagshipWorld()
        let app = try await world.certified()
        #expect(try await world.login(app).status == .unauthorized)
        _ = try await world.onboard(app)
        try await world.world.carryOut(DemandMailedCodes())
        let nobody = TestInstallation(id: "x", secret: "y", token: "")
        let wrong = try await world.login(nobody, "another hash of a device")
        #expect(wrong.status == .unauthorized)
        #expect(wrong.json["error"] != nil)
        #expect(wrong.json["two_factor_token"] == nil)
        let asked = try await world.login(nobody)
        #expect(asked.status == .unauthorized)
        #expect(asked.json["error"] == nil)
        let token = try #require(asked.json["two_factor_token"])
        let digits = try await world.mailedDigits()
        func second(
            _ app: TestInstallation, _ typed: String, _ token: JSON,
            _ name: String = "two_factor_passcode"
        ) async throws -> Answered {
            try await world.login(
                app, FlagshipWorld.hash, ["two_factor_token": token, name: .string(typed)])
        }
        let mistyped = try await second(nobody, digits == "000000" ? "1" : "000000", token)
        #expect(mistyped.status == .forbidden)
        #expect(mistyped.json["error"] != nil)
        #expect(try await second(nobody, digits, "AAAA").status == .forbidden)
        let unknown = try await second(nobody, digits, token)
        #expect(unknown.status == .badRequest)
        #expect(unknown.json["error"] == "the client must be registered")
        var other = app
        other.secret = "y"
        #expect(
            try await second(other, digits, token).json["error"] == "invalid client_secret")
        // The same token goes on being good, until it brought somebody in.
        let done = try await second(app, digits, token)
        #expect(done.status == .ok)
        #expect(try await second(app, digits, token).status == .forbidden)
    }

    @Test func `COZ-15: an owner has a code per pending sign-in, and few guesses at all of them`()
        async throws
    {
        let world = try await FlagshipWorld()
        let app = try await world.certified()
        _ = try await world.onboard(app)
        try await world.world.carryOut(DemandMailedCodes())
        func ask() async throws -> (JSON, String) {
            let token = try await world.login(app).json["two_factor_token"]
            return (try #require(token), try await world.mailedDigits())
        }
        func type(_ token: JSON, _ digits: String) async throws -> Int {
            try await world.login(
                app, FlagshipWorld.hash,
                ["two_factor_token": token, "two_factor_code": .string(digits)]
            ).status.code
        }
        let (old, oldDigits) = try await ask()
        let (new, digits) = try await ask()
        // Digits are for the sign-in that had them mailed.
        #expect(try await type(old, digits) == 403)
        #expect(try await type(old, oldDigits) == 200)
        #expect(try await type(new, digits) == 200)
        #expect(try await type(old, oldDigits) == 403)
        let (late, lateDigits) = try await ask()
        world.world.clock.advance(seconds: MailedCode.lifetime)
        #expect(try await type(late, lateDigits) == 403)
        // Another code gives no tries back.
        for _ in 0..<2 {
            let (tried, right) = try await ask()
            for _ in 0..<MailedCode.attempts {
                #expect(try await type(tried, right == "111111" ? "2" : "111111") == 403)
            }
            #expect(try await type(tried, right) == 403)
        }
        let (resting, kept) = try await ask()
        #expect(try await type(resting, kept) == 403)
        world.world.clock.advance(seconds: 3_600)
        let (last, lastDigits) = try await ask()
        #expect(try await type(last, lastDigits) == 200)
    }

    @Test func `COZ-14: an owner's sign-in is locked for a time after wrong guesses from anywhere`()
        async throws
    {
        let world = try await FlagshipWorld()
        let app = try await world.certified()
        _ = try await world.onboard(app)
        func guess(_ times: Int) async throws {
            for _ in 0..<times {
                #expect(try await world.login(app, "a wrong hash").status == .unauthorized)
            }
        }
        // A handful keeps nobody out.
        try await guess(19)
        #expect(try await world.login(app).status == .ok)
        try await guess(20)
        #expect(try await world.login(app).status == .unauthorized)
        world.world.clock.advance(seconds: 60)
        #expect(try await world.login(app).status == .ok)
    }

    @Test func `COZ-11: the flagship token endpoint answers in the profile's words and order`()
        async throws
    {
        let world = try await FlagshipWorld()
        let (app, other) = (try await world.certified(), try await world.certified("Other"))
        let tokens = try await world.onboard(app)
        let refresh = try #require(tokens.json["refresh_token"]?.string)
        let full = [
            ("grant_type", "refresh_token"), ("client_id", app.id), ("client_secret", app.secret),
            ("refresh_token", refresh),
        ]
        func ask(_ change: [(String, String?)]) async throws -> (Int, JSON) {
            var form = full
            for (name, value) in change {
                form.removeAll { $0.0 == name }
                if let value { form.append((name, value)) }
            }
            let answer = try await world.send(
                .post, "/auth/access_token", form: form.map { (name: $0.0, value: $0.1) })
            return (answer.status.code, answer.json["error"] ?? .null)
        }
        let cases: [([(String, String?)], JSON)] = [
            (
                [("grant_type", nil), ("client_id", nil), ("client_secret", nil)],
                "the grant_type parameter is mandatory"
            ),
            (
                [("client_id", nil), ("client_secret", nil)],
                "the client_id parameter is mandatory"
            ),
            ([("client_secret", nil)], "the client_secret parameter is mandatory"),
            (
                [("client_id", "x"), ("client_secret", "y"), ("grant_type", "z")],
                "the client must be registered"
            ),
            ([("client_secret", "y"), ("grant_type", "z")], "invalid client_secret"),
            ([("grant_type", "z")], "invalid grant type"),
            ([("refresh_token", nil)], "invalid refresh token"),
            ([("refresh_token", "x")], "invalid refresh token"),
            (
                [("client_id", other.id), ("client_secret", other.secret)],
                "invalid refresh token"
            ),
        ]
        for (change, error) in cases {
            let refused = try await ask(change)
            #expect(refused == (400, error), "\(change)")
        }
        // It stays as it is, however often it is shown.
        for _ in 0..<3 {
            let answer = try await world.refresh(app, refresh)
            #expect(answer.status == .ok)
            #expect(answer.json["refresh_token"] == nil)
            let access = try #require(answer.json["access_token"]?.string)
            #expect(try await world.sessionCode(access).status == .created)
        }
    }

    @Test func `COZ-12: a bad flagship token is refused in the profile's words`() async throws {
        let world = try await FlagshipWorld()
        let app = try await world.certified()
        let access = try #require(try await world.onboard(app).json["access_token"]?.string)
        let bad = try await world.sessionCode(
            String(access.dropLast()) + (access.last == "A" ? "E" : "A"))
        #expect(bad.status == .badRequest)
        #expect(bad.json == ["error": "Invalid JWT token"])
        #expect(
            bad.response.headers["WWW-Authenticate"] == #"Bearer error="invalid_token""#)
        let none = try await world.sessionCode(nil)
        #expect(none.status == .unauthorized)
        #expect(none.json == ["error": "Not authorized"])
        world.world.clock.advance(seconds: 86_400)
        let old = try await world.sessionCode(access)
        #expect(old.status == .badRequest)
        #expect(old.json == ["error": "Expired token"])
        #expect(
            old.response.headers["WWW-Authenticate"]?.contains("error_description") == true)
    }

    @Test func `COZ-12: a flagship token opens no other routes`() async throws {
        let world = try await FlagshipWorld()
        let app = try await world.certified()
        let access = try #require(try await world.onboard(app).json["access_token"]?.string)
        for path in ["/api/account", "/api/account/passkeys", "/api/account/sessions"] {
            #expect(try await world.send(.get, path, bearer: access).status.code >= 400)
        }
    }

    @Test func `COZ-19: an owner gets session codes by the passphrase as well`() async throws {
        let world = try await FlagshipWorld()
        _ = try await world.onboard(try await world.register())
        func ask(_ more: JSONObject) async throws -> Answered {
            try await world.send(
                .post, "/auth/session_code",
                json: .object(
                    more.merging(["passphrase": .string(FlagshipWorld.hash)]) { own, _ in own }))
        }
        #expect(try await ask([:]).status == .created)
        #expect(try await ask(["passphrase": "wrong"]).status == .unauthorized)
        try await world.world.carryOut(DemandMailedCodes())
        let asked = try await ask([:])
        #expect(asked.status == .forbidden)
        #expect(asked.json["error"] == "two factor needed")
        let first = try #require(asked.json["two_factor_token"])
        let mistyped = try await ask(["two_factor_token": first, "two_factor_passcode": "x"])
        #expect(mistyped.status == .forbidden)
        let next = try #require(mistyped.json["two_factor_token"])
        #expect(next != first)
        let done = try await ask([
            "two_factor_token": next,
            "two_factor_passcode": .string(try await world.mailedDigits()),
        ])
        #expect(done.status == .created)
    }
}

/// The owner wants a mailed code beside his passphrase.
struct DemandMailedCodes: Command {
    enum Rejection: Error, Equatable, Sendable {}

    func gather(_ streams: some StreamReader) async throws(LogFailure) {
        _ = try await streams.read(Owner.self, Owner.stream)
    }

    func decide(_ facts: Void) throws(Rejection) -> Decision {
        Decision(OwnerEvent.mailedCodesChanged(isNeeded: true), in: Owner.stream)
    }
}
