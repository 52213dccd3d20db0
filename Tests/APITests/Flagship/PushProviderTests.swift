import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

@Suite struct `Push providers` {
    private let path = "/api/admin/realms/acme/push-providers"

    private func firebase(_ change: JSONObject = [:]) throws -> JSON {
        let key = try PushStandIn.pem(try SigningKey.pooled(.rs256))
        let account: JSONObject = [
            "type": "service_account", "project_id": "demo", "private_key_id": "k1",
            "private_key": .string(key), "client_email": "push@demo.example",
            "token_uri": "https://oauth2.example/token",
        ]
        return [
            "service_account": .object(account.merging(change) { $1 }),
            "address": "https://fcm.example",
        ]
    }

    private func apple(_ change: JSONObject = [:]) throws -> JSON {
        let key = try PushStandIn.pem(try SigningKey.pooled(.es256))
        let provider: JSONObject = [
            "team_id": "TEAM", "key_id": "KEY", "private_key": .string(key),
            "topic": "io.example.flagship",
        ]
        return .object(provider.merging(change) { $1 })
    }

    @Test func `push providers are set, shown without their keys, and removed`() async throws {
        let world = try await World()
        #expect(
            try await world.send(.put, path + "/fcm", body: try firebase()).status == .noContent)
        #expect(
            try await world.send(.put, path + "/apns", body: try apple()).status == .noContent)
        let shown = try await world.send(.get, path)
        #expect(
            shown.json["items"] == [
                [
                    "provider": "apns", "address": "https://api.push.apple.com", "key_id": "KEY",
                    "team_id": "TEAM", "topic": "io.example.flagship", "usable": true,
                ],
                [
                    "provider": "fcm", "address": "https://fcm.example", "key_id": "k1",
                    "project_id": "demo", "client_email": "push@demo.example",
                    "token_uri": "https://oauth2.example/token", "usable": true,
                ],
            ])
        #expect(try await world.send(.delete, path + "/fcm").status == .noContent)
        #expect(try await world.send(.delete, path + "/fcm").problem == .noSuchPushProvider)
        #expect(try await world.send(.delete, path + "/smoke").problem == .noSuchRoute)
        #expect(try await world.send(.get, path).json["items"]?.array?.count == 1)
    }

    @Test func `push providers need keys that can sign`() async throws {
        let world = try await World()
        let wrong = try PushStandIn.pem(try SigningKey.pooled(.es256))
        for key in ["", "key", wrong, wrong + wrong] {
            let answer = try await world.send(
                .put, path + "/fcm", body: try firebase(["private_key": .string(key)]))
            #expect(answer.problem == .invalidField && answer.field == "private_key")
            #expect(!String(decoding: answer.response.body, as: UTF8.self).contains("BEGIN"))
        }
        let other = try PushStandIn.pem(try SigningKey.generate(.rs256))
        let answer = try await world.send(
            .put, path + "/apns", body: try apple(["private_key": .string(other)]))
        #expect(answer.field == "private_key")
    }

    @Test func `push providers need addresses of https`() async throws {
        let world = try await World()
        for address in ["http://fcm.example", "https://a@fcm.example", "ftp://x", "fcm"] {
            let answer = try await world.send(
                .put, path + "/apns", body: try apple(["address": .string(address)]))
            #expect(answer.problem == .invalidField && answer.field == "address")
            let token = try await world.send(
                .put, path + "/fcm", body: try firebase(["token_uri": .string(address)]))
            #expect(token.field == "token_uri")
        }
    }

    @Test func `push providers' keys are stored readable nowhere`() async throws {
        let world = try await World()
        _ = try await world.send(.put, path + "/apns", body: try apple())
        let realm = try #require(RealmID("acme"))
        let events = try await world.log.events(from: 1, limit: .max, in: realm)
        let set = try #require(events.last { $0.name == "push_provider.set" })
        #expect(set.open["private_key"] == nil)
        #expect(set.subject == PushProviders.stream)
    }

    @Test func `push providers' failures can be sent again`() async throws {
        let world = try await World()
        let list = "/api/admin/realms/acme/notifications"
        let items = try await world.send(.get, list, query: "failed=true").json["items"]?.array
        #expect(items?.count == 1)
        #expect(items?.first?["state"] == "failed" && items?.first?["category"] == "news")
        let id = try #require(items?.first?["id"]?.string)
        #expect(try await world.send(.post, "\(list)/\(id)/resend").status == .noContent)
        #expect(
            try await world.send(.post, "\(list)/\(id)/resend").problem
                == .notificationNotFailed)
        #expect(
            try await world.send(.post, "\(list)/\(UUID.random())/resend").problem
                == .noSuchNotification)
    }
}
