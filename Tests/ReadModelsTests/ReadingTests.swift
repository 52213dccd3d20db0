import EventSourcing
import Identity
import JSON
import Postgres
import PostgresTesting
import Testing
import Values

@testable import ReadModels

@Suite struct `Reading a model that a decision hangs on` {
    let realm = RealmID("one")

    private func secret(_ byte: UInt8) -> String {
        Base64URL.encode([UInt8](repeating: byte, count: 32))
    }

    private func registered(_ stream: UUID, _ name: String, version: Int = 1) -> Happening {
        Happening(
            "client.registered", stream, version: version,
            """
            {"client_id":"\(name)","grant_types":["authorization_code"],\
            "secret_digest":"\(secret(1))","token_endpoint_auth_method":"client_secret_basic"}
            """)
    }

    @Test func `a client's read model returns it as its events left it`() async throws {
        let world = try World()
        let realm = try #require(realm)
        let queries = world.queries
        #expect(try await queries.ask(ClientView.byClientID, "mine", in: realm) == nil)
        let stream = UUID(high: 7, low: 7)
        try world.append([registered(stream, "mine")], in: "one")
        let entry = try #require(try await queries.ask(ClientView.byClientID, "mine", in: realm))
        #expect(entry.id == stream)
        #expect(entry.secret == SecretDigest([UInt8](repeating: 1, count: 32)))
        #expect(entry.metadata["client_id"] == nil)
        #expect(entry.metadata["secret_digest"] == nil)
        #expect(entry.metadata["grant_types"] == ["authorization_code"])
        #expect(!entry.isDisabled)
        try world.append(
            [
                Happening("client.disabled", stream, version: 2),
                Happening(
                    "client.secret_rotated", stream, version: 3,
                    #"{"secret_digest":"\#(secret(2))"}"#),
            ], in: "one")
        let disabled = try #require(try await queries.ask(ClientView.byClientID, "mine", in: realm))
        #expect(disabled.isDisabled)
        #expect(try world.value("select version from urd.clients where realm = 'one'") == "3")
        #expect(disabled.secret == SecretDigest([UInt8](repeating: 2, count: 32)))
        try world.append(
            [
                Happening(
                    "client.updated", stream, version: 4,
                    #"{"token_endpoint_auth_method":"none"}"#)
            ], in: "one")
        #expect(try await queries.ask(ClientView.byClientID, "mine", in: realm)?.secret == nil)
        try world.append([Happening("client.deleted", stream, version: 5)], in: "one")
        #expect(try await queries.ask(ClientView.byClientID, "mine", in: realm) == nil)
        try world.append([registered(UUID(high: 8, low: 8), "mine")], in: "one")
        #expect(
            try await queries.ask(ClientView.byClientID, "mine", in: realm)?.id
                == UUID(high: 8, low: 8))
    }

    @Test func `a client's read model returns the clients of one app`() async throws {
        let world = try World()
        let realm = try #require(realm)
        let (app, other) = (UUID(high: 5, low: 1), UUID(high: 5, low: 2))
        for (number, own) in [app, other, nil, app].enumerated() {
            try world.append(
                [
                    Happening(
                        "client.registered", UUID(high: UInt64(number + 1), low: 0), version: 1,
                        """
                        {"client_id":"c\(number)","token_endpoint_auth_method":"none"\
                        \(own.map { #","app_id":"\#($0)""# } ?? "")}
                        """)
                ], in: "one")
        }
        let queries = world.queries
        #expect(
            try await queries.ask(ClientView.ofApp, (app, limit: 9), in: realm).map(\.clientID) == [
                "c0", "c3",
            ])
        #expect(try await queries.ask(ClientView.ofApp, (app, limit: 1), in: realm).count == 1)
        let two = try #require(RealmID("two"))
        #expect(try await queries.ask(ClientView.ofApp, (app, limit: 9), in: two).isEmpty)
    }

    @Test func `a read model's pages are consistent with each other`() async throws {
        let world = try World()
        let realm = try #require(realm)
        let queries = world.queries
        for number in 1...7 {
            try world.append(
                [registered(UUID(high: UInt64(number), low: 0), "c\(number)")], in: "one")
        }
        try world.append([registered(UUID(high: 9, low: 0), "other")], in: "two")
        var seen: [String] = []
        var after: UUID?
        while true {
            let page = try await queries.ask(ClientView.page, (after: after, limit: 3), in: realm)
            seen += page.map(\.clientID)
            guard page.count == 3, let last = page.last else { break }
            after = last.id
        }
        #expect(seen == (1...7).map { "c\($0)" })
    }

    @Test func `a read model gives no answer while it is behind the log`() async throws {
        let world = try World()
        let realm = try #require(realm)
        try world.append([registered(UUID(high: 1, low: 1), "mine")], in: "one")
        // What apply runs into does not matter; that it halts does.
        try world.owner.run("alter table urd.clients_1 add constraint no_more check (version < 2)")
        try world.append(
            [Happening("client.disabled", UUID(high: 1, low: 1), version: 2)], in: "one")
        let queries = world.queries
        await #expect(throws: ReadFailure.behind) {
            try await queries.clientsByName.find("mine", in: realm)
        }
        await #expect(throws: LogFailure.unavailable) {
            try await queries.ask(ClientView.page, (nil, 5), in: realm)
        }
        // Another client of the realm is none of the model's business either, nor one that is not.
        await #expect(throws: ReadFailure.behind) {
            try await queries.clientsByName.find("no", in: realm)
        }
        // Other realms and other models are not concerned.
        #expect(
            try await queries.ask(ClientView.byClientID, "mine", in: #require(RealmID("two")))
                == nil)
        #expect(try await queries.ask(AppView.page, (after: nil, limit: 5), in: realm).isEmpty)
    }

    @Test func `a read model gives no answer for a realm that it was never told of`() async throws {
        let world = try World()
        let realm = try #require(realm)
        try world.append([registered(UUID(high: 1, low: 1), "mine")], in: "one")
        try world.superuser.run("delete from urd.projection_position where projection = 'clients'")
        await #expect(throws: ReadFailure.behind) {
            try await world.queries.clientsByName.find("mine", in: realm)
        }
    }

    @Test func `a read model finds realms, apps, hosts and keys`() async throws {
        let world = try World()
        let realm = try #require(realm)
        let app = UUID(high: 2, low: 2)
        try world.append(
            [
                Happening("realm.created", .zero, version: 1, #"{"display_name":"One"}"#),
                Happening(
                    "realm.settings_changed", .zero, version: 2,
                    #"{"changes":{"code_lifetime":30,"mail_from":"a@b.example"}}"#),
                Happening(
                    "realm.settings_changed", .zero, version: 3, #"{"changes":{"mail_from":null}}"#),
                Happening("realm.disabled", .zero, version: 4),
                Happening("app.created", app, version: 1, #"{"name":"Shop","slug":"shop"}"#),
                Happening(
                    "app.updated", app, version: 2, #"{"settings":{"native_grants":true}}"#),
            ], in: "one")
        let key = UUID(high: 3, low: 3)
        let host = UUID(high: 4, low: 4)
        try world.append(
            [
                Happening(
                    "admin_key.created", key, version: 1,
                    #"""
                    {"digest":"\#(secret(9))","name":"Ops","permissions":["events.read"],"realms":["one"]}
                    """#),
                Happening(
                    "host.assigned", host, version: 1,
                    #"{"host":"id.one.example","realm":"one"}"#),
            ], in: "system")
        let found = try #require(try await world.queries.ask(RealmView.byName, in: realm))
        #expect(found.isDisabled)
        #expect(found.settings == ["display_name": "One", "code_lifetime": 30])
        #expect(
            try await world.queries.ask(RealmView.page, (after: nil, limit: 10), in: .system).map(
                \.realm) == [realm])
        let shop = try #require(try await world.queries.ask(AppView.bySlug, "shop", in: realm))
        #expect(shop.id == app)
        #expect(shop.settings == ["native_grants": true])
        #expect(
            try await world.queries.ask(HostView.byName, "id.one.example", in: .system)?.realm
                == realm)
        let hosts = try await world.queries.ask(HostView.page, (after: nil, limit: 5), in: realm)
        #expect(hosts.map(\.host) == ["id.one.example"])
        #expect(
            try world.value("select stream from urd.hosts where realm = 'system'")
                == host.description)
        let ops = try #require(try await world.queries.ask(AdminKeyView.byID, key, in: .system))
        #expect(ops.scope == .only([realm]))
        #expect(ops.permissions == .only([.eventsRead]))
        #expect(ops.revokedAt == nil)
        try world.append(
            [
                Happening("admin_key.revoked", key, version: 2),
                Happening("host.released", host, version: 2),
            ], in: "system")
        #expect(try await world.queries.ask(AdminKeyView.byID, key, in: .system)?.revokedAt != nil)
        #expect(
            try await world.queries.ask(HostView.byName, "id.one.example", in: .system)?.realm
                == nil)
    }
}

@Suite struct `The database's roles` {
    @Test func `the observer's role sees the views and nothing behind them`() throws {
        let world = try World()
        var history = RandomHistory(seed: 5)
        try world.append(history.events(100), in: "one")
        let observer = try Connection(world.database.observer)
        for view in ["apps", "realms", "hosts", "daily_counts", "clients_position"] {
            #expect(try observer.run("select * from urd.\(view)").count >= 0)
        }
        #expect(try observer.run("select client_id, metadata from urd.clients").count > 0)
        #expect(try observer.run("select key, name from urd.admin_keys").count >= 0)
        for refused in [
            "select secret_digest from urd.clients", "select digest from urd.admin_keys",
            "select fields from urd.audit_trail", "select terms from urd.browser_sessions",
            "select data from urd.event",
            "select * from urd.clients_1", "delete from urd.apps", "select urd.enroll()",
            "select urd.project('one', 'clients', 1, 10)",
            "select urd.apply_inline('one', 1, 1, '{}', '{}')",
            "select urd.clients_1_apply('one', 1, 1, null)",
        ] {
            #expect(throws: Postgres.Failure.self, "\(refused)") { try observer.run(refused) }
        }
    }

    @Test func `no column that the observer's role may read holds a field that never leaves`()
        throws
    {
        let world = try World()
        var history = RandomHistory(seed: 5)
        try world.append(history.events(400), in: "one")
        var secrets: Set<String> = []
        let events = try Connection(world.database.owner).run(
            "select type, data::text from urd.event where realm = 'one'")
        for row in 0..<events.count {
            let type = events.text(row, 0)
            let data = try JSON.parse(Array(events.text(row, 1).utf8)).object ?? [:]
            for field in EventCatalogue.newest.first(where: { $0.name == type })?.fields ?? [] {
                guard case .neverLeaves = field.visibility else { continue }
                if let text = data[field.name]?.string { secrets.insert(text) }
            }
        }
        #expect(secrets.count > 10)
        let observer = try Connection(world.database.observer)
        let columns = try observer.run(
            """
            select table_name, column_name from information_schema.columns
            where table_schema = 'urd'
                and has_column_privilege('urd.' || table_name, column_name, 'select')
            """)
        #expect(columns.count > 50)
        for row in 0..<columns.count {
            let (table, column) = (columns.text(row, 0), columns.text(row, 1))
            let rows = try observer.run(
                "select coalesce(\"\(column)\"::text, '') from urd.\(table)")
            let shown = (0..<rows.count).map { rows.text($0, 0) }
            let leaked = shown.contains { text in secrets.contains { text.contains($0) } }
            #expect(!leaked, "urd.\(table).\(column)")
        }
    }

    @Test func `the application's role changes read models through the log alone`() throws {
        let world = try World()
        let application = try Connection(world.database.application)
        for refused in [
            "update urd.clients set disabled = false", "delete from urd.clients_1",
            "update urd.projection_position set position = 7",
            "select urd.clients_1_apply('one', 1, 1, null)",
            "select urd.advance('one', 'apps', 1, 0, 1)",
        ] {
            #expect(throws: Postgres.Failure.self, "\(refused)") { try application.run(refused) }
        }
    }
}
