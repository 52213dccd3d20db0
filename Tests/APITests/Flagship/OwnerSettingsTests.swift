import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `An owner's settings` {
    private func world() async throws -> (FlagshipWorld, TestInstallation, String) {
        let world = try await FlagshipWorld()
        let app = try await world.certified()
        let access = try await world.onboard(app).json["access_token"]?.string
        return (world, app, try #require(access))
    }

    @Test func `COZ-24: an owner's settings change the passphrase only with the present one`()
        async throws
    {
        let (world, app, access) = try await world()
        func change(_ members: JSONObject) async throws -> Answered {
            try await world.send(
                .put, "/settings/passphrase",
                json: .object(
                    (["iterations": 100_000] as JSONObject).merging(members) { $1 }), bearer: access
            )
        }
        let next = "what the device made of another one"
        #expect(
            try await change(["current_passphrase": "x", "new_passphrase": .string(next)]).status
                == .unauthorized)
        #expect(
            try await change([
                "current_passphrase": .string(FlagshipWorld.hash), "iterations": 1,
                "new_passphrase": .string(next),
            ]).status == .unprocessable)
        #expect(
            try await change([
                "current_passphrase": .string(FlagshipWorld.hash),
                "new_passphrase": .string(next),
            ]).status == .noContent)
        #expect(try await world.login(app).status == .unauthorized)
        #expect(try await world.login(app, next).status == .ok)
        #expect(
            try await world.send(.get, "/public/prelogin").json["KdfIterations"] == 100_000)
        #expect(try await world.happened("passphrase.derived").count == 2)
        try await world.world.carryOut(DemandMailedCodes())
        let both: JSONObject = [
            "current_passphrase": .string(next), "new_passphrase": .string(FlagshipWorld.hash),
        ]
        let asked = try await change(both)
        #expect(asked.status == .ok)
        let token = try #require(asked.json["two_factor_token"])
        let done = try await change(
            both.merging([
                "two_factor_token": token,
                "two_factor_passcode": .string(try await world.mailedDigits()),
            ]) { $1 })
        #expect(done.status == .noContent)
    }

    @Test
    func `COZ-24: an owner's settings take the mailed code of a first step for the passphrase`()
        async throws
    {
        let (world, app, access) = try await world()
        let other = try await world.certified("Other")
        let others = try #require(try await world.login(other).json["access_token"]?.string)
        func change(
            _ members: JSONObject, _ bearer: String? = nil
        ) async throws -> Answered {
            try await world.send(
                .put, "/settings/passphrase", json: .object(members), bearer: bearer ?? access)
        }
        let first: JSONObject = ["current_passphrase": .string(FlagshipWorld.hash)]
        #expect(try await change(first).status == .badRequest)
        try await world.world.carryOut(DemandMailedCodes())
        #expect(try await change(["current_passphrase": "x"]).status == .unauthorized)
        let asked = try await change(first)
        #expect(asked.status == .ok && asked.json.object?.keys.sorted() == ["two_factor_token"])
        func second(_ token: JSON?, _ digits: String) -> JSONObject {
            [
                "new_passphrase": "what the device made of another one", "key": "k2",
                "two_factor_token": token ?? .null, "two_factor_passcode": .string(digits),
            ]
        }
        let token = try #require(asked.json["two_factor_token"])
        let digits = try await world.mailedDigits()
        // A token that came of a sign-in is no proof of the passphrase here.
        let login = try await world.login(app).json["two_factor_token"]
        let loginDigits = try await world.mailedDigits()
        #expect(try await change(second(login, loginDigits)).status == .unauthorized)
        #expect(try await change(second("x", digits)).status == .unauthorized)
        #expect(try await change(second(token, digits), others).status == .unauthorized)
        let wrong = digits == "000000" ? "111111" : "000000"
        #expect(try await change(second(token, wrong)).status == .forbidden)
        #expect(try await world.happened("passphrase.derived").count == 1)
        #expect(try await change(second(token, digits)).status == .noContent)
        #expect(try await change(second(token, digits)).status == .unauthorized)
        #expect(try await world.happened("passphrase.derived").count == 2)
        // What was left out is as it was.
        #expect(
            try await world.send(.get, "/public/prelogin").json["KdfIterations"] == 650_000)
    }

    @Test func `COZ-24: an owner's settings keep the keys that an app does not send again`()
        async throws
    {
        let (world, _, access) = try await world()
        func changed(_ members: JSONObject) async throws -> [String?] {
            let both: JSONObject = [
                "current_passphrase": .string(FlagshipWorld.hash),
                "new_passphrase": .string(FlagshipWorld.hash),
            ]
            let answer = try await world.send(
                .put, "/settings/passphrase", json: .object(both.merging(members) { $1 }),
                bearer: access)
            #expect(answer.status == .noContent)
            let event = try #require(try await world.happened("passphrase.derived").last)
            guard case .derived(let derived, _, _, _)? = PassphraseEvent(event) else { return [] }
            return [derived.hint, derived.key, derived.publicKey, derived.privateKey]
        }
        #expect(try await changed([:]) == ["otters", "k", "pub", "priv"])
        #expect(
            try await changed(["key": "k2", "publicKey": "p2", "privateKey": "s2"])
                == ["otters", "k2", "p2", "s2"])
        #expect(
            try await changed(["hint": "h", "public_key": "p3", "private_key": "s3"])
                == ["h", "k2", "p3", "s3"])
        #expect(try await changed(["key": "k4"]) == ["h", "k4", "p3", "s3"])
    }

    @Test func `COZ-24: an owner's settings check the passphrase and its hint`() async throws {
        let (world, _, access) = try await world()
        func check(_ typed: String, _ bearer: String?) async throws -> Status {
            try await world.send(
                .post, "/settings/passphrase/check", json: ["passphrase": .string(typed)],
                bearer: bearer
            ).status
        }
        #expect(try await check(FlagshipWorld.hash, access) == .noContent)
        #expect(try await check("wrong", access) == .forbidden)
        #expect(try await check(FlagshipWorld.hash, nil) == .unauthorized)
        #expect(try await check(FlagshipWorld.hash, "x") == .badRequest)
        #expect(
            try await world.send(.get, "/settings/hint", bearer: access).status == .noContent)
        let found = try await world.send(.get, "/settings/passphrase", bearer: access)
        let attributes = found.json["data"]?["attributes"]
        #expect(
            attributes == ["salt": "me@id.acme.example", "kdf": 0, "iterations": 650_000])
        let able = try await world.send(.get, "/settings/capabilities")
        #expect(able.json["data"]?["attributes"]?["can_auth_with_password"] == true)
        // Nothing was opened by looking.
        #expect(try await world.happened("session_code.issued").isEmpty)
    }

    @Test func `COZ-15: an owner's settings turn mailed codes on after one was shown`() async throws
    {
        let (world, app, access) = try await world()
        func mode(_ members: JSONObject) async throws -> Status {
            try await world.send(
                .put, "/settings/instance/auth_mode", json: .object(members), bearer: access
            ).status
        }
        let mail: JSONObject = ["auth_mode": "two_factor_mail"]
        func code(_ digits: String) -> JSONObject {
            mail.merging(["two_factor_activation_code": .string(digits)]) { $1 }
        }
        #expect(try await mode(["auth_mode": "smoke"]) == .badRequest)
        #expect(try await mode(code("123456")) == .unprocessable)
        #expect(try await mode(mail) == .noContent)
        #expect(try await world.login(app).status == .ok)
        let digits = try await world.mailedDigits()
        #expect(try await mode(code(digits == "111111" ? "2" : "111111")) == .unprocessable)
        #expect(try await mode(code(digits)) == .noContent)
        #expect(try await mode(code(digits)) == .unprocessable)
        #expect(try await world.login(app).json["two_factor_token"] != nil)
        #expect(try await mode(["auth_mode": "basic"]) == .noContent)
        #expect(try await world.login(app).status == .ok)
    }

    @Test func `COZ-23: an owner's settings list the admitted apps and remove them`() async throws {
        let (world, app, access) = try await world()
        let (other, waiting) = (try await world.register("Other"), try await world.register("W"))
        _ = try await world.login(other)
        let list = try await world.send(.get, "/settings/clients", bearer: access)
        let clients = list.json["data"]?.array ?? []
        #expect(clients.map { $0["id"] } == [.string(app.id), .string(other.id)])
        #expect(clients.first?["attributes"]?["certified_by"] == "app_attest")
        #expect(clients.last?["attributes"]?["certified_by"] == nil)
        #expect(clients.allSatisfy { $0["attributes"]?["client_secret"] == nil })
        let usage = try await world.send(.get, "/settings/clients-usage", bearer: access)
        #expect(usage.json["data"]?["attributes"]?["count"] == 2)
        #expect(
            try await world.send(.post, "/settings/synchronized", bearer: access).status
                == .noContent)
        for path in ["/settings/clients", "/settings/clients-usage"] {
            #expect(try await world.send(.get, path).status == .unauthorized)
        }
        let path = "/settings/clients/\(other.id)"
        #expect(try await world.send(.delete, path).status == .unauthorized)
        #expect(try await world.send(.delete, path, bearer: access).status == .noContent)
        #expect(try await world.send(.delete, path, bearer: access).status == .noContent)
        #expect(
            try await world.login(other).json["error"] == "the client must be registered")
        #expect(
            try await world.send(
                .get, "/auth/register/\(waiting.id)", bearer: waiting.token
            ).status == .ok)
    }
}
