import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API
@testable import SecurityKeysTesting

@Suite struct `MOD-10 The passkeys of an account` {
    @Test func `MOD-10: an account's passkeys are listed newest first with their names`()
        async throws
    {
        let world = try await PasskeyWorld()
        #expect(try await world.list().isEmpty)
        let keys = [try SoftKey(of: world.account), try SoftKey(of: world.account)]
        for key in keys { #expect(try await world.enroll(key).status == .ok) }
        let list = try await world.list()
        #expect(list.map { $0["DisplayName"] } == ["Passkey", "Passkey"])
        #expect(list.map { $0["LastUsedAt"] } == [nil, nil])
        let times = list.compactMap { $0["CreatedAt"]?.string }
        #expect(times.count == 2 && times == times.sorted().reversed())
        let id = try #require(list.last?["Id"]?.string)
        for name in ["Phone", "Ann's phone 📱"] {
            let named = try await world.send(
                .patch, "/connect/passkey/\(id)", ["displayname": .string(name)])
            #expect(named.status == .noContent)
            #expect(try await world.list().last?["DisplayName"] == .string(name))
        }
        #expect(try await world.signIn(keys[0]).status == .ok)
        #expect(try await world.list().last?["LastUsedAt"] != nil)
        #expect(try await world.list().first?["DisplayName"] == "Passkey")
        let renamed = try #require(try await world.events("passkey.renamed").first)
        #expect(renamed.open["name"] == nil && renamed.subject == world.account)
    }

    @Test func `MOD-10: an account's passkey is removed by its owner, once`() async throws {
        let world = try await PasskeyWorld()
        #expect(try await world.enroll(try SoftKey(of: world.account)).status == .ok)
        let id = try #require(try await world.list().first?["Id"]?.string)
        let (bob, _) = try await PasskeyWorld.signIn("bob@example.org", world.world)
        #expect(try await world.list(token: bob).isEmpty)
        let path = "/connect/passkey/\(id)"
        for (path, token) in [
            (path, bob), ("/connect/passkey/\(UUID.random())", world.token),
            ("/connect/passkey/x", world.token),
            ("/connect/passkey/\(world.account)", world.token),
        ] {
            #expect(try await world.send(.delete, path, token: token).status == .notFound)
            let named = try await world.send(.patch, path, ["DisplayName": "A"], token: token)
            #expect(named.status == .notFound)
        }
        let gone = try await world.send(.delete, path)
        #expect(gone.status == .noContent && gone.response.body.isEmpty)
        #expect(try await world.send(.delete, path).status == .notFound)
        #expect(try await world.list().isEmpty)
        let removed = try #require(try await world.events("passkey.removed").first)
        #expect(removed.open["mail"]?.string.flatMap { UUID($0) } != nil, "Its owner is told.")
        #expect(removed.actor == "user:\(world.account)")
        #expect(try await world.events("passkey.removed").count == 1)
    }

    @Test func `MOD-10: an account's passkey has its model's name until its owner names it`()
        async throws
    {
        let world = try await PasskeyWorld()
        let google = try #require(UUID("ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4"))
        for model in [google.bytes, UUID.random().bytes] {
            let enrolled = try await world.enroll(try SoftKey(of: world.account)) { draft in
                draft.model = model
            }
            #expect(enrolled.status == .ok)
        }
        let names = { try await world.list().compactMap { $0["DisplayName"]?.string } }
        #expect(try await names() == ["Passkey", "Google Password Manager"])
        let (unknown, known) = (try await world.list()[0], try await world.list()[1])
        #expect(try await world.world.lastLetter().text.contains("“Passkey”"))
        let paths = [unknown, known].map { "/connect/passkey/\($0["Id"]?.string ?? "")" }
        _ = try await world.send(.patch, paths[0], ["DisplayName": "Blue key"])
        #expect(try await names() == ["Blue key", "Google Password Manager"])
        for (path, name) in zip(paths, ["Blue key", "Google Password Manager"]) {
            #expect(try await world.send(.delete, path).status == .noContent)
            let letter = try await world.world.lastLetter()
            #expect(letter.text.contains("“\(name)”"), "\(letter.text)")
        }
    }

    @Test func `MOD-10: an account's passkey needs a printable name`() async throws {
        let world = try await PasskeyWorld()
        #expect(try await world.enroll(try SoftKey(of: world.account)).status == .ok)
        let id = try #require(try await world.list().first?["Id"]?.string)
        for name: JSON in ["", "  ", "a\nb", .string(String(repeating: "a", count: 101)), 1] {
            let answer = try await world.send(
                .patch, "/connect/passkey/\(id)", ["DisplayName": name])
            #expect(answer.status == .badRequest)
            #expect(answer.json["error"] != nil)
        }
    }

    @Test func `MOD-10: an account's passkeys are limited in number`() async throws {
        let world = try await PasskeyWorld()
        for _ in 0..<Passkey.mostPerAccount {
            world.world.clock.advance(seconds: 5)
            #expect(try await world.enroll(try SoftKey(of: world.account)).status == .ok)
        }
        let full = try await world.send(.post, "/connect/passkey/enroll/begin")
        #expect(full.status == .badRequest)
        #expect(full.json["Message"]?.string?.isEmpty == false)
    }
}
