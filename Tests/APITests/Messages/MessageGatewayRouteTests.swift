import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `Routes of message gateways` {
    private let path = "/api/admin/realms/acme/message-gateways"
    private let twilio: JSON = [
        "kind": "twilio", "account": "AC01", "sender": "+15005550006", "secret": "s3cret",
    ]

    @Test func `gateways are set, shown without their secrets, and removed`() async throws {
        let world = try await World()
        #expect(try await world.send(.delete, path + "/sms").status == .noContent)
        #expect(try await world.send(.get, path).json["items"] == [])
        #expect(try await world.send(.put, path + "/sms", body: twilio).status == .noContent)
        #expect(
            try await world.send(
                .put, path + "/whatsapp",
                body: [
                    "kind": "whatsapp_cloud", "account": "1065", "template": "sign_in_code",
                    "secret": "s3cret", "address": "https://graph.example.org",
                ]
            ).status == .noContent)
        #expect(
            try await world.send(.get, path).json["items"] == [
                [
                    "channel": "sms", "kind": "twilio", "address": "https://api.twilio.com",
                    "account": "AC01", "sender": "+15005550006", "receipts": true, "usable": true,
                    "secrets": ["secret"],
                ],
                [
                    "channel": "whatsapp", "kind": "whatsapp_cloud",
                    "address": "https://graph.example.org", "account": "1065",
                    "template": "sign_in_code", "receipts": false, "usable": true,
                    "secrets": ["secret"],
                ],
            ])
        #expect(try await world.send(.delete, path + "/sms").status == .noContent)
        #expect(try await world.send(.delete, path + "/sms").problem == .noSuchMessageGateway)
        #expect(try await world.send(.get, path).json["items"]?.array?.count == 1)
    }

    @Test func `secrets are stored readable nowhere`() async throws {
        let world = try await World()
        _ = try await world.send(.put, path + "/sms", body: twilio)
        let realm = try #require(RealmID("acme"))
        let set = try #require(
            try await world.log.events(from: 1, limit: .max, in: realm).last {
                $0.name == "message_gateway.set"
            })
        #expect(set.open["secret"] == nil)
        #expect(set.subject == MessageGateways.stream)
    }

    @Test func `a gateway that could not be called is refused by the name of its field`()
        async throws
    {
        let world = try await World()
        for (field, body) in [
            ("address", ["kind": "webhook", "secret": "s", "address": "http://sms.example.org"]),
            ("address", ["kind": "webhook", "secret": "s"]),
            ("account", ["kind": "twilio", "secret": "s", "sender": "+15005550006"]),
            (
                "channel",
                ["kind": "whatsapp_cloud", "secret": "s", "account": "1", "template": "t"]
            ),
            ("secret", ["kind": "twilio", "secret": "a b"]),
        ] as [(String, JSON)] {
            let answer = try await world.send(.put, path + "/sms", body: body)
            #expect(answer.status == .badRequest && answer.field == field, "\(body)")
        }
        #expect(
            try await world.send(.put, path + "/mail", body: twilio).problem == .invalidParameter)
    }
}
