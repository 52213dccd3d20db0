import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

private let accounts = "/api/admin/realms/acme/accounts"

extension World {
    /// The id of a new account.
    func person(_ email: String, confirmed: Bool = true) async throws -> UUID {
        let made = try await make(
            accounts, ["email": .string(email), "confirmed": .bool(confirmed)])
        return try #require(made.json["id"]?.string.flatMap { UUID($0) })
    }

    func events() async throws -> [Recorded] {
        try await log.events(from: 1, limit: .max, in: try #require(RealmID("acme")))
    }

    func find(_ email: String) async throws -> [JSON]? {
        let answer = try await send(
            Request(
                method: .get, path: accounts, query: nil,
                headers: ["Authorization": "Bearer \(key.text)", "Email": email], body: [],
                source: "203.0.113.7", id: "r"))
        return answer.json["items"]?.array
    }
}

@Suite struct `MOD-17: an account over HTTP` {
    @Test
    func `MOD-17: an account is created over HTTP and found under any spelling of its address`()
        async throws
    {
        let world = try await World()
        let made = try await world.make(
            accounts, ["email": "Ada@Example.org", "first_name": "Ada", "confirmed": true])
        let id = try #require(made.json["id"]?.string)
        #expect(made.json["confirmed"] == true)
        #expect(made.json["enabled"] == true)
        #expect(made.json["deletion_due"] == .null)
        #expect(made.response.headers["Location"] == "\(accounts)/\(id)")
        #expect(try await world.find("aDA@example.ORG")?.map { $0["id"] } == [.string(id)])
        #expect(try await world.find("nobody@example.org") == [])
        #expect(try await world.find("a@localhost") == nil, "That is no address.")
        #expect(try await world.send(.get, "\(accounts)/\(id)").json == made.json)
        let missing = try await world.send(.get, "\(accounts)/\(UUID.random())")
        #expect(missing.problem == .noSuchAccount)
    }

    @Test func `MOD-17: an account's domain may be written in Unicode or in ASCII`() async throws {
        let world = try await World()
        let id = try await world.person("ann@müller.example")
        let known = [JSON.string(id.description)]
        for spelling in ["ann@müller.example", "Ann@MÜLLER.example", "ann@xn--mller-kva.example"] {
            #expect(try await world.find(spelling)?.compactMap { $0["id"] } == known, "\(spelling)")
        }
        // Two scripts in one label.
        let mixed = try await world.send(.post, accounts, body: ["email": "ann@mаller.example"])
        #expect(mixed.problem == .invalidField && mixed.field == "email")
    }

    @Test func `MOD-17: an account's personal data are in no list, and reading them is recorded`()
        async throws
    {
        let world = try await World()
        let id = try await world.person("ada@example.org")
        let list = try await world.send(.get, accounts)
        #expect(!String(decoding: list.response.body, as: UTF8.self).contains("ada@"))
        let closed = try await world.send(.get, "\(accounts)/\(id)")
        #expect(closed.json["person"] == nil)
        #expect(try await !world.events().contains { $0.name == "personal_data.opened" })
        let open = try await world.send(.get, "\(accounts)/\(id)", query: "open=true")
        #expect(open.json["person"] == ["email": "ada@example.org"])
        let record = try #require(try await world.events().last)
        #expect(record.name == "personal_data.opened")
        #expect(record.open == ["kind": "person", "accounts": [.string(id.description)]])
        #expect(record.actor == "admin:\(world.key.id)")
        _ = try await world.send(
            .get, "\(accounts)/\(id)", query: "open=true&reason=Incident%204711")
        #expect(try await world.events().last?.open["reason"] == "Incident 4711")
    }

    @Test func `MOD-17: an account takes only roles that the realm has`() async throws {
        let world = try await World()
        let id = try await world.person("ada@example.org")
        let path = "\(accounts)/\(id)/roles"
        #expect(try await world.send(.get, path).json == ["roles": [:]])
        let unknown = try await world.send(
            .put, path, body: ["roles": ["shop": ["clerk"]]])
        #expect(unknown.problem == .invalidField && unknown.field == "roles")
        _ = try await world.send(
            .patch, "/api/admin/realms/acme/settings",
            body: ["roles": ["shop": ["clerk": ["orders:read"], "boss": []]]])
        let given: JSON = ["roles": ["shop": ["boss", "clerk"]]]
        let set = try await world.send(.put, path, body: ["roles": ["shop": ["clerk", "boss"]]])
        #expect(set.status == .ok && set.json == given)
        #expect(try await world.send(.get, path).json == given)
        #expect(try await world.events().last?.name == "account.roles_changed")
        let nobody = try await world.send(.get, "\(accounts)/\(UUID.random())/roles")
        #expect(nobody.problem == .noSuchAccount)
    }

    @Test func `MOD-17: an account needs a valid and free address`() async throws {
        let world = try await World()
        _ = try await world.person("ada@example.org")
        let twice = try await world.send(.post, accounts, body: ["email": "ADA@example.org"])
        #expect(twice.problem == .accountExists)
        #expect(twice.field == "email")
        let wrong = try await world.send(.post, accounts, body: ["email": "a@localhost"])
        #expect(wrong.problem == .invalidField)
        #expect(wrong.field == "email")
        _ = try await world.send(.post, "/api/admin/realms/acme/disable")
        let closed = try await world.send(.post, accounts, body: ["email": "bob@example.org"])
        #expect(closed.problem == .realmDisabled)
    }

    @Test func `MOD-17: an account has an external id that can stand in a header`() async throws {
        let world = try await World()
        for number in ["A B", "B\u{FC}", "4711 ", "\u{200B}"] {
            let made = try await world.send(
                .post, accounts,
                body: ["email": "ada@example.org", "external_id": .string(number)])
            #expect(made.problem == .invalidField && made.field == "external_id")
        }
        let made = try await world.make(
            accounts, ["email": "ada@example.org", "external_id": "BP/4711-~"])
        let id = try #require(made.json["id"]?.string)
        let path = "\(accounts)/\(id)"
        let refused = try await world.send(.patch, path, body: ["external_id": "A B"])
        #expect(refused.problem == .invalidField && refused.field == "external_id")
        for number in ["BP=\"1\"", .null] as [JSON] {
            let set = try await world.send(.patch, path, body: ["external_id": number])
            #expect(set.status == .ok)
        }
    }

    @Test func `MOD-17: an account is changed member by member`() async throws {
        let world = try await World()
        let id = try await world.person("ada@example.org")
        let path = "\(accounts)/\(id)"
        func person() async throws -> JSON? {
            try await world.send(.get, path, query: "open=true").json["person"]
        }
        let named = try await world.send(
            .patch, path, body: ["first_name": "Ada", "last_name": "Byron"])
        #expect(named.status == .ok)
        _ = try await world.send(.patch, path, body: ["last_name": .null])
        #expect(try await person() == ["email": "ada@example.org", "first_name": "Ada"])
        let moved = try await world.send(
            .patch, path, body: ["email": "Ada@New.example"], idempotencyKey: "move")
        #expect(moved.json["confirmed"] == false)
        #expect(moved.json["mailbox"] != named.json["mailbox"])
        #expect(try await person() == ["email": "ada@new.example", "first_name": "Ada"])
        #expect(try await world.find("ada@example.org") == [])
        #expect(try await world.find("ada@new.example")?.count == 1)
        // The address that it left is anybody's.
        let other = try await world.person("ada@example.org")
        let back = try await world.send(.patch, path, body: ["email": "ada@example.org"])
        #expect(back.problem == .accountExists)
        #expect(other != id)
        let again = try await world.send(
            .patch, path, body: ["email": "Ada@New.example"], idempotencyKey: "move")
        #expect(again.response == moved.response)
        let missing = try await world.send(
            .patch, "\(accounts)/\(UUID.random())", body: ["first_name": "Ada"])
        #expect(missing.problem == .noSuchAccount)
    }

    @Test func `MOD-17: disabling, enabling and logging an account out notifies its person`()
        async throws
    {
        let world = try await World()
        let path = "\(accounts)/\(try #require(world.names["account_id"]))"
        #expect(try await world.send(.get, path + "/sessions").json["items"]?.array?.count == 1)
        let out = try await world.send(.post, path + "/log-out")
        #expect(out.status == .ok)
        #expect(try await world.send(.get, path + "/sessions").json["items"] == [])
        #expect(try await world.events().last?.open["mail"]?.string.flatMap { UUID($0) } != nil)
        #expect(try await world.send(.post, path + "/disable").json["enabled"] == false)
        #expect(try await world.events().last?.open["mail"]?.string.flatMap { UUID($0) } != nil)
        #expect(try await world.send(.post, path + "/enable").json["enabled"] == true)
    }
}

@Suite struct `MOD-17: an account's sessions over HTTP` {
    @Test func `MOD-17: an account's sessions are listed and ended one by one`() async throws {
        let world = try await World()
        let path = world.names["account_id"].map { "\(accounts)/\($0)/sessions" } ?? ""
        let session = try #require(world.names["session_id"])
        let list = try await world.send(.get, path)
        let item = try #require(list.json["items"]?.array?.first)
        #expect(item["id"]?.string == session)
        #expect(item["device"] == "iPhone")
        let other = try await world.person("ada@example.org")
        let foreign = try await world.send(
            .delete, "\(accounts)/\(other)/sessions/\(session)")
        #expect(foreign.problem == .noSuchSession)
        #expect(try await world.send(.delete, "\(path)/\(session)").status == .noContent)
        #expect(try await world.send(.get, path).json["items"] == [])
        #expect(try await world.events().last?.open == ["reason": "administrator"])
        #expect(try await world.send(.delete, "\(path)/\(session)").status == .noContent)
        let missing = try await world.send(.delete, "\(path)/\(UUID.random())")
        #expect(missing.problem == .noSuchSession)
        let nobody = try await world.send(.get, "\(accounts)/\(UUID.random())/sessions")
        #expect(nobody.problem == .noSuchAccount)
    }
}

@Suite struct `Mails over HTTP` {
    private let mails = "/api/admin/realms/acme/mails"

    @Test func `unsent mails are listed and can be sent again`() async throws {
        let world = try await World()
        let mail = try #require(world.names["mail_id"])
        let failed = try await world.send(.get, mails, query: "failed=true")
        let item = try #require(failed.json["items"]?.array?.first)
        #expect(item["id"]?.string == mail)
        #expect(item["state"] == "failed")
        #expect(item["code"] == 550 && item["reason"] == nil)
        let resent = try await world.send(.post, "\(mails)/\(mail)/resend")
        #expect(resent.status == .noContent)
        #expect(try await world.send(.get, mails, query: "failed=true").json["items"] == [])
        let position = try #require(resent.response.headers["Urd-Position"])
        let due = try await world.send(.get, mails, query: "min_position=\(position)")
        #expect(due.json["items"]?.array?.map { $0["state"] } == ["due"])
        let again = try await world.send(.post, "\(mails)/\(mail)/resend")
        #expect(again.problem == .mailNotFailed)
        let missing = try await world.send(.post, "\(mails)/\(UUID.random())/resend")
        #expect(missing.problem == .noSuchMail)
        let late = try await world.send(.get, mails, query: "min_position=acme:1:999999")
        #expect(late.problem == .positionNotReached)
    }

    @Test func `unsent mails are listed with the reason where no mail server was reached`()
        async throws
    {
        let world = try await World()
        for fault in MailFault.allCases {
            let mail = UUID.random()
            try await world.happen(
                Mail.self, .deferred(attempt: 1, until: Timestamp(seconds: 0), code: 0), in: mail)
            try await world.happen(
                Mail.self, .failed(attempt: 2, code: 0, reason: fault), in: mail)
            let items = try await world.send(.get, mails).json["items"]?.array ?? []
            let item = try #require(items.first { $0["id"]?.string == mail.description })
            #expect(item["reason"]?.string == fault.rawValue && item["code"] == nil)
        }
    }
}
