import EventSourcing
import HTTP
import Identity
import JSON
import LogTesting
import Testing
import Values

@testable import API

private let realm = "/api/admin/realms/acme"

@Suite struct `A state as of a moment` {
    private func head(_ world: World) async throws -> Int64 {
        try await world.log.head(of: try #require(RealmID("acme"))).position
    }

    private func roles(_ world: World, _ id: UUID, _ names: [String]) async throws {
        let settings = try await world.send(
            .patch, "\(realm)/settings",
            body: [
                "roles": ["https://api.example.org": ["editor": [], "admin": []]]
            ])
        try #require(settings.status == .ok, "\(settings.json)")
        let set = try await world.send(
            .put, "\(realm)/accounts/\(id)/roles",
            body: ["roles": ["https://api.example.org": .array(names.map { .string($0) })]])
        try #require(set.status == .ok, "\(set.json)")
    }

    @Test func `an account is shown as it was at each position, and not before it was there`()
        async throws
    {
        let world = try await World()
        let before = try await head(world)
        let ada = try await world.person("ada@example.org")
        let registered = try await head(world)
        _ = try await world.send(.post, "\(realm)/accounts/\(ada)/disable")
        let disabled = try await head(world)
        _ = try await world.send(.post, "\(realm)/accounts/\(ada)/enable")
        func account(_ position: Int64) async throws -> Answered {
            try await world.send(.get, "\(realm)/as-of/\(position)/accounts/\(ada)")
        }
        #expect(try await account(before).problem == .noSuchAccount)
        let first = try await account(registered)
        #expect(first.json["state"]?["account"]?["enabled"] == true)
        #expect(first.json["state"]?["account"]?["stamp"] == 0)
        #expect(first.json["position"] == .integer(registered))
        #expect(first.json["epoch"] == 1)
        #expect(try await account(disabled - 1).json["state"] == first.json["state"])
        let second = try await account(disabled)
        #expect(second.json["state"]?["account"]?["enabled"] == false)
        #expect(second.json["state"]?["account"]?["stamp"] == 1)
        let now = try await account(try await head(world))
        #expect(now.json["state"]?["account"]?["enabled"] == true)
    }

    @Test
    func `a time stands for the last position that is not later, also where times run backwards`()
        async throws
    {
        let world = try await World()
        world.pass(seconds: 1000)
        var random = SeededRandom(seed: 4711)
        // Two nodes, whose clocks differ: one node's never runs backwards.
        var time = try #require(try await world.events().last?.at)
        for _ in 1...200 {
            time = time.adding(seconds: Int64.random(in: 0...5, using: &random))
            let stream = UUID.random()
            let event = NewEvent(DeviceEvent.denied(account: UUID.random()), in: stream)
            let late = Int64.random(in: 0...55, using: &random)
            _ = try await world.log.append(
                Commit(
                    realm: try #require(RealmID("acme")), command: UUID.random(),
                    origin: Origin(actor: "client:desk", at: time.adding(seconds: -late)),
                    reads: [stream: 0], events: [event]))
        }
        let events = try await world.events()
        #expect(zip(events, events.dropFirst()).contains { $0.at > $1.at }, "Seed 4711")
        for _ in 1...100 {
            let some = try #require(events.randomElement(using: &random))
            let time = some.at.adding(microseconds: Int64.random(in: -1...1, using: &random))
            let expected = events.last { $0.at <= time }?.position ?? 0
            let answer = try await world.send(.get, "\(realm)/as-of/\(time)/roles")
            #expect(answer.json["position"] == .integer(expected), "\(time)")
            let shown = answer.json["at"]?.string.flatMap { Timestamp(rfc3339: $0) }
            #expect(shown == events.first { $0.position == expected }?.at)
        }
        let early = try await world.send(.get, "\(realm)/as-of/2020-01-01/roles")
        #expect(early.json["position"] == 0)
        let late = try await world.send(.get, "\(realm)/as-of/2099-01-01T00:00:00Z/roles")
        #expect(late.json["position"] == .integer(try await head(world)))
    }

    @Test func `a moment that cannot be is refused`() async throws {
        let world = try await World()
        let head = try await head(world)
        func problem(_ moment: String) async throws -> Answered {
            try await world.send(.get, "\(realm)/as-of/\(moment)/roles")
        }
        let beyond = try await problem("\(head + 1)")
        #expect(beyond.problem == .positionLost && beyond.status == .conflict)
        #expect(beyond.field == "moment")
        #expect(
            beyond.json["detail"] == .string("moment is beyond the head of the log, 1:\(head)."))
        for moment in ["0", "yesterday", "2026-13-01", "2026-11-22T", "-1", "9999999999999999"] {
            #expect(try await problem(moment).problem == .invalidParameter, "\(moment)")
        }
        let unknown = try await world.send(.get, "/api/admin/realms/nobody/as-of/1/roles")
        #expect(unknown.problem == .noSuchRealm)
        let id = try #require(world.names["account_id"])
        let turned = try await world.send(
            .get, "\(realm)/as-of/\(head)/diff/\(head - 1)/accounts/\(id)")
        #expect(turned.problem == .invalidParameter && turned.field == "from")
    }

    @Test func `personal data is shown as it was, for a reason that is on record first`()
        async throws
    {
        let world = try await World()
        let ada = try await world.person("ada@example.org")
        let path = "\(realm)/accounts/\(ada)"
        _ = try await world.send(.patch, path, body: ["first_name": "Ada"])
        let named = try await head(world)
        _ = try await world.send(.patch, path, body: ["first_name": "Augusta"])
        let asked = "\(realm)/as-of/\(named)/accounts/\(ada)"
        #expect(try await world.send(.get, asked).json["person"] == nil)
        let before = try await head(world)
        let bare = try await world.send(.get, asked, query: "open=true")
        #expect(bare.problem == .missingParameter && bare.field == "reason")
        let hidden = try await world.send(.get, asked, query: "open=true&reason=Incident%E2%80%AE1")
        #expect(hidden.problem == .invalidParameter && hidden.field == "reason")
        let analyst = try await world.limitedKey([.analyst])
        let refused = try await world.send(
            .get, asked, query: "open=true&reason=Incident", key: analyst)
        #expect(refused.problem == .forbidden)
        #expect(try await head(world) == before, "Nothing was opened.")
        #expect(try await world.send(.get, asked, key: analyst).status == .ok)
        let reader = try await world.limitedKey([.eventsRead, .auditRead])
        #expect(try await world.send(.get, asked, key: reader).problem == .forbidden)
        let opened = try await world.send(.get, asked, query: "open=true&reason=Incident%204711")
        #expect(opened.json["person"] == ["email": "ada@example.org", "first_name": "Ada"])
        let record = try #require(try await world.events().last)
        #expect(record.name == "personal_data.opened" && record.position == before + 1)
        #expect(
            record.open == [
                "kind": "person", "accounts": [.string(ada.description)],
                "reason": "Incident 4711",
            ])
    }

    @Test func `who had a role is listed as it was, page by page`() async throws {
        let world = try await World()
        var ids: [UUID] = []
        for name in ["ada", "bob", "cid"] {
            ids.append(try await world.person("\(name)@example.org"))
        }
        for id in ids { try await roles(world, id, ["admin", "editor"]) }
        let all = try await head(world)
        try await roles(world, ids[0], ["editor"])
        _ = try await world.send(.post, "\(realm)/accounts/\(ids[1])/erase")
        let later = try await head(world)
        func holders(_ moment: Int64, _ query: String) async throws -> [JSON] {
            let answer = try await world.send(.get, "\(realm)/as-of/\(moment)/roles", query: query)
            return answer.json["items"]?.array ?? []
        }
        #expect(try await holders(all, "role=admin").count == 3)
        let left = try await holders(later, "role=admin")
        let names = left.compactMap { $0["account"]?.string }
        #expect(names.contains(ids[2].description) && !names.contains(ids[0].description))
        #expect(!names.contains(ids[1].description))
        #expect(left.allSatisfy { $0["roles"] == ["https://api.example.org": ["admin"]] })
        for query in ["role=admn", "audience=nowhere"] {
            let unknown = try await world.send(.get, "\(realm)/as-of/\(later)/roles", query: query)
            #expect(unknown.problem == .invalidParameter)
        }
        // Before the realm knew the role nobody had it.
        for query in ["role=admin", "audience=https://api.example.org"] {
            let early = try await world.send(.get, "\(realm)/as-of/1/roles", query: query)
            #expect(early.status == .ok && early.json["items"] == [], "\(early.json)")
        }
        var pages: [JSON] = []
        var after: String?
        repeat {
            let query = "limit=1" + (after.map { "&after=\($0)" } ?? "")
            let page = try await world.send(.get, "\(realm)/as-of/\(all)/roles", query: query)
            pages += page.json["items"]?.array ?? []
            after = page.nextPage
        } while after != nil
        #expect(pages.count == 3)
        #expect(pages == (try await holders(all, "limit=200")))
    }

    @Test func `a client is shown as it was, without what is personal`() async throws {
        let world = try await World()
        let made = try await world.make(
            "\(realm)/clients",
            [
                "client_name": "Shop", "redirect_uris": ["https://shop.example/back"],
                "contacts": ["ann@shop.example"],
            ])
        let name = try #require(made.json["client_id"]?.string)
        let first = try await head(world)
        _ = try await world.send(.patch, "\(realm)/clients/\(name)", body: ["client_name": "Store"])
        let stream = try #require(try await world.events().last?.stream)
        _ = try await world.send(.delete, "\(realm)/clients/\(name)")
        let then = try await world.send(.get, "\(realm)/as-of/\(first)/clients/\(stream)")
        let client = try #require(then.json["state"]?["client"])
        #expect(client["metadata"]?["client_name"] == "Shop")
        #expect(client["metadata"]?["contacts"] == nil)
        #expect(client["deleted"] == false && client["has_secret"] == true)
        let now = try await world.send(.get, "\(realm)/as-of/2099-01-01/clients/\(stream)")
        #expect(now.json["state"]?["client"]?["deleted"] == true)
        #expect(now.json["state"]?["client"]?["metadata"]?["client_name"] == "Store")
    }
}

@Suite struct `What changed between two moments` {
    /// Somebody to whom all kinds of things happen, some of them twice and back again.
    private func history(_ random: inout SeededRandom) async throws -> (World, UUID) {
        let world = try await World()
        let ada = try await world.person("ada@example.org")
        let other = try await world.person("bob@example.org")
        let identity = UUID.random()
        var sessions: [UUID] = []
        var passkeys: [UUID] = []
        for _ in 1...60 {
            switch Int.random(in: 0...9, using: &random) {
            case 0: _ = try await world.send(.post, "\(realm)/accounts/\(ada)/disable")
            case 1, 2: _ = try await world.send(.post, "\(realm)/accounts/\(ada)/enable")
            case 3, 4:
                sessions.append(UUID.random())
                try await world.happen(
                    Session.self, .opened(world.terms(of: ada)), in: sessions[sessions.count - 1])
            case 5:
                guard let session = sessions.randomElement(using: &random) else { continue }
                try await world.happen(
                    Session.self,
                    .refreshed(generation: 1, at: Timestamp(seconds: 1_795_000_000)), in: session)
            case 6:
                guard let session = sessions.popLast() else { continue }
                try await world.happen(Session.self, .ended(.revoked), in: session)
            case 7:
                passkeys.append(UUID.random())
                try await world.happen(
                    Passkey.self, .enrolled(passkey(of: ada)), in: passkeys[passkeys.count - 1])
            case 8:
                guard let removed = passkeys.popLast() else { continue }
                try await world.happen(
                    Passkey.self, .removed(account: ada, mail: nil), in: removed)
            default:
                for holder in [other, ada] {
                    try await world.happen(
                        ProviderIdentity.self,
                        .linked(holder, provider: "corporate", subject: nil, mail: nil),
                        in: identity)
                    if Bool.random(using: &random) { break }
                    try await world.happen(
                        ProviderIdentity.self, .unlinked(holder, provider: "corporate"),
                        in: identity)
                }
            }
        }
        return (world, ada)
    }

    private func passkey(of account: UUID) -> EnrolledPasskey {
        EnrolledPasskey(
            account: account, client: nil, relyingParty: "acme.example",
            key: CredentialRecord(
                id: [1, 2, 3], publicKey: [4], counter: 7, isBackupEligible: false,
                isBackedUp: false, isUserVerified: true, model: .zero, transports: [],
                format: "none", attestation: "none", isTrusted: false),
            enrolledAt: Timestamp(seconds: 1_795_000_000), mail: UUID.random())
    }

    /// Each value that is no object, by the names that lead to it: what a difference is not made with.
    private func leaves(_ json: JSON?, _ names: [String] = []) -> [[String]: JSON] {
        guard let object = json?.object, !object.isEmpty else {
            return json.map { [names: $0] } ?? [:]
        }
        return object.reduce(into: [:]) { all, member in
            all.merge(leaves(member.value, names + [member.key])) { $1 }
        }
    }

    /// The state that the changes make of another one.
    private func applied(_ before: JSON?, changedBy fields: [JSON]) -> [[String]: JSON] {
        var state = leaves(before)
        for field in fields {
            let names = (field["field"]?.string ?? "").split(separator: "/").map { name in
                String(name).replacing("~1", with: "/").replacing("~0", with: "~")
            }
            state = state.filter { !$0.key.starts(with: names) }
            state.merge(leaves(field["after"], names)) { $1 }
        }
        return state
    }

    private func state(_ world: World, _ path: String) async throws -> JSON? {
        try await world.send(.get, "\(realm)/as-of/\(path)").json["state"]
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func
        `the difference is the difference of the two states, and the changes lead from one to the other`(
            _ seed: UInt64
        ) async throws
    {
        var random = SeededRandom(seed: seed)
        let (world, ada) = try await history(&random)
        let events = try await world.events()
        let born = try #require(events.first { $0.stream == ada }?.position)
        let head = try #require(events.last?.position)
        for what in ["", "/credentials", "/sessions"] {
            for _ in 1...8 {
                let from = Int64.random(in: born...head, using: &random)
                let to = Int64.random(in: from...head, using: &random)
                let old = try await state(world, "\(from)/accounts/\(ada)\(what)")
                let new = try await state(world, "\(to)/accounts/\(ada)\(what)")
                let answer = try await world.send(
                    .get, "\(realm)/as-of/\(from)/diff/\(to)/accounts/\(ada)\(what)")
                let difference = try #require(answer.json["difference"]?.array)
                let changes = try #require(answer.json["changes"]?.array)
                let label: Comment = "Seed \(seed), \(from) to \(to)\(what)"
                #expect(difference.isEmpty == (old == new), label)
                let pruned = leaves(new).filter { $0.value != [:] }
                let steps = changes.flatMap { $0["fields"]?.array ?? [] }
                #expect(
                    applied(old, changedBy: difference).filter { $0.value != [:] } == pruned,
                    label)
                #expect(
                    applied(old, changedBy: steps).filter { $0.value != [:] } == pruned, label)
                for field in difference {
                    let names = (field["field"]?.string ?? "").split(separator: "/").map(
                        String.init)
                    var value = old
                    for name in names { value = value?[name] }
                    #expect(field["before"] == value, label)
                    #expect(field["before"] != field["after"], label)
                }
                for change in changes {
                    let event = events.first { .integer($0.position) == change["position"] }
                    #expect(event.map { $0.position > from && $0.position <= to } == true, label)
                    #expect(change["actor"]?.string == event?.actor, label)
                    #expect(change["at"]?.string == event?.at.description, label)
                    #expect(change["type"]?.string == event?.name, label)
                }
            }
        }
    }

    @Test func `an account that was not there yet differs in all of its fields`() async throws {
        let world = try await World()
        let ada = try await world.person("ada@example.org")
        let answer = try await world.send(
            .get, "\(realm)/as-of/2020-01-01/diff/2099-01-01/accounts/\(ada)")
        let fields = answer.json["difference"]?.array ?? []
        #expect(fields.contains { $0["field"] == "/account/enabled" && $0["before"] == nil })
        #expect(answer.json["from"]?["position"] == 0)
        let unknown = try await world.send(
            .get, "\(realm)/as-of/1/diff/2099-01-01/accounts/\(UUID.random())")
        #expect(unknown.problem == .noSuchAccount)
    }

    @Test func `a session that was open is good until its account's stamp moves on`() async throws {
        let world = try await World()
        let ada = try await world.person("ada@example.org")
        let session = UUID.random()
        try await world.happen(Session.self, .opened(world.terms(of: ada)), in: session)
        let acme = try #require(RealmID("acme"))
        let opened = try await world.log.head(of: acme).position
        _ = try await world.send(.post, "\(realm)/accounts/\(ada)/disable")
        _ = try await world.send(.post, "\(realm)/accounts/\(ada)/enable")
        let enabled = try await world.log.head(of: acme).position
        try await world.happen(Session.self, .ended(.revoked), in: session)
        func open(_ position: Int64) async throws -> (JSON?, JSON?) {
            let answer = try await world.send(
                .get, "\(realm)/as-of/\(position)/accounts/\(ada)/sessions"
            ).json
            return (answer["open"], answer["state"]?["sessions"]?[session.description])
        }
        #expect(try await open(opened).0 == [.string(session.description)])
        let later = try await open(enabled)
        #expect(later.0 == [] && later.1?["kind"] == "client")
        let ended = try await open(try await world.log.head(of: acme).position)
        #expect(ended.0 == [] && ended.1 == nil)
        let alone = try await world.send(.get, "\(realm)/as-of/\(opened)/sessions/\(session)")
        #expect(alone.json["state"]?["sessions"]?[session.description]?["generation"] == 0)
    }
}
