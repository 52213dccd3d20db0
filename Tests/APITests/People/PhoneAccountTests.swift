import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

private let accounts = "/api/admin/realms/acme/accounts"

@Suite struct `Accounts with a phone number` {
    private func find(_ world: World, _ address: String) async throws -> Answered {
        try await world.send(
            Request(
                method: .get, path: accounts, query: nil,
                headers: [
                    "Authorization": "Bearer \(world.key.text)",
                    address.contains("@") ? "Email" : "Phone": address,
                ], body: [],
                source: "203.0.113.7", id: "r"))
    }

    @Test
    func `an account with a number is found under any spelling of it, and shows it when opened`()
        async throws
    {
        let world = try await World()
        let made = try await world.make(
            accounts, ["phone": "+41 78 123 45 67", "first_name": "Bob", "confirmed": true])
        let id = try #require(made.json["id"]?.string)
        for spelling in ["+41781234567", "+41 (0)78 123 45 67", "+41-78-123-45-67"] {
            let found = try await find(world, spelling).json["items"]?.array
            #expect(found?.map { $0["id"] } == [.string(id)], "\(spelling)")
        }
        #expect(try await find(world, "+41781234568").json["items"] == [])
        #expect(try await find(world, "0781234567").problem == .invalidParameter)
        let opened = try await world.send(.get, "\(accounts)/\(id)", query: "open=true")
        #expect(opened.json["person"] == ["phone": "+41781234567", "first_name": "Bob"])
        let again = try await world.send(
            .post, accounts, body: ["phone": "+41781234567", "confirmed": true])
        #expect(again.problem == .accountExists)
    }

    @Test func `a change of the name leaves the number, and null takes one of two addresses away`()
        async throws
    {
        let world = try await World()
        let made = try await world.make(accounts, ["phone": "+41781234567", "confirmed": true])
        let path = "\(accounts)/\(try #require(made.json["id"]?.string))"
        let named = try await world.send(.patch, path, body: ["first_name": "Bob"])
        #expect(named.status == .ok && named.json["mailbox"] == made.json["mailbox"])
        #expect(named.json["phone_mailbox"] == .null)
        let early = try await world.send(.patch, path, body: ["email": "bob@example.org"])
        #expect(early.problem == .missingField && early.field == "confirmed")
        let both = try await world.send(
            .patch, path, body: ["email": "bob@example.org", "confirmed": true])
        #expect(both.json["phone_mailbox"] == made.json["mailbox"])
        for address in ["+41781234567", "bob@example.org"] {
            #expect(try await find(world, address).json["items"]?.array?.count == 1)
        }
        let opened = try await world.send(.get, path, query: "open=true")
        #expect(
            opened.json["person"] == [
                "email": "bob@example.org", "phone": "+41781234567", "first_name": "Bob",
            ])
        let one = try await world.send(.patch, path, body: ["phone": .null])
        #expect(one.json["mailbox"] == both.json["mailbox"])
        #expect(one.json["phone_mailbox"] == .null)
        #expect(try await find(world, "+41781234567").json["items"] == [])
        let none = try await world.send(.patch, path, body: ["email": .null])
        #expect(none.problem == .missingField)
        let back = try await world.send(
            .patch, path, body: ["email": .null, "phone": "+41781234567"])
        #expect(back.json["mailbox"] == made.json["mailbox"])
    }

    @Test func `an account has a mail address or a number of a mobile phone`() async throws {
        let world = try await World()
        for (body, problem, field) in [
            (["first_name": "Bob"], .missingField, "email"),
            (["email": "bob@example.org", "phone": "+41781234567"], .missingField, "confirmed"),
            (["phone": "+41446681800"], .invalidField, "phone"),
            (["phone": "0781234567"], .invalidField, "phone"),
            (["phone": "+41900123456"], .invalidField, "phone"),
        ] as [(JSON, ProblemKind, String)] {
            let answer = try await world.send(.post, accounts, body: body)
            #expect(answer.problem == problem && answer.field == field, "\(body)")
        }
    }
}
