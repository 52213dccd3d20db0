import EventSourcing
import Identity
import JSON
import Postgres
import Testing
import Values

@testable import ReadModels

/// What SQL finds with a filter is what the filter says in memory.
@Suite struct `A list with a filter` {
    private let world: World
    private let realm: RealmID
    private let other: RealmID
    private let events: [Recorded]

    init() throws {
        world = try World()
        realm = try #require(RealmID("one"))
        other = try #require(RealmID("two"))
        for (name, seed) in [("one", UInt64(139)), ("two", 140)] {
            var history = RandomHistory(seed: seed)
            for _ in 0..<12 { try world.append(history.events(64), in: name) }
            try world.append(
                [
                    Happening(
                        "session.refused", history.fresh(), version: 1,
                        """
                        {"account":"\(history.fresh())","client":"\(history.fresh())","client_id":"web",
                        "method":"urn:cocoar:otp","reason":"caf\u{E9}","source":"here","amr":["otp"],
                        "count":3}
                        """)
                ], in: name)
            for model in ["audit_trail", "event_index", "login_history"] {
                try world.follow(model, name)
            }
        }
        events = try world.recorded(realm)
    }

    private static let filters = [
        "type pr", #"type sw "session.""#, #"not (type sw "client.") and position gt 40"#,
        #"type in ["session.opened", "account.registered"] or type ew "changed""#,
        "account pr", "not (account pr)", "session pr and not (device pr)",
        #"source eq "here" or reason pr"#, #"reason eq "café" or reason co "x""#,
        #"reason ne "café""#, #"not (reason gt "b")"#, #"amr eq "otp""#, #"amr ne "otp""#,
        "fields.count ge 2", "fields.count in [1, 3]", "not (fields.count lt 9)",
        "fields.confirmed eq true or fields.confirmed eq false", "fields.confirmed ne true",
        "fields.scope pr", #"fields.expires_at gt "2020-01-01""#,
        #"not (fields.expires_at le "2060-01-01T00:00:00Z")"#, #"outcome eq "refused""#,
        #"outcome ne "signed_in" and (method pr or channel pr)"#, #"at ge "2026-01-01""#,
        #"at lt "2026-01-01" or position le 7"#,
        #"actor eq "admin:tester" and not (stream eq "00000000-0000-0007-0000-000000000007")"#,
        #"client pr and not (type eq "client.registered")"#, "country pr or asn gt 3",
        #"country eq "CH" and asn le 5"#, #"not (country in ["CH", "DE"])"#,
        #"type gt "m" and type le "session.refreshed" and type co "e""#,
    ]

    private func expression(_ text: String) throws -> FilterExpression {
        try FilterParser.expression(of: text, EventAttributes.ofEvents)
    }

    private func found(
        _ filter: FilterExpression, isNewestFirst: Bool = false, in realm: RealmID? = nil
    ) async throws -> [Int64] {
        var asked = AuditSelection()
        asked.filter = filter
        asked.isNewestFirst = isNewestFirst
        let page = try await world.queries.filteredAuditTrail(
            of: realm ?? self.realm, asked, after: nil, limit: 10_000, within: .seconds(60))
        #expect(page.stoppedAt == nil)
        return page.items.map(\.position)
    }

    private func wanted(_ filter: FilterExpression) async throws -> [Int64] {
        let about = try await world.queries.ask(
            EventReferences.ofPositions, events.map(\.position), in: realm
        ).value
        return events.filter { event in
            let facts = EventFacts(event) { name in
                (about[event.position] ?? []).compactMap { $0.value(of: name) }
            }
            return filter.holds(facts.values)
        }.map(\.position)
    }

    @Test func `the audit trail has what the filter says of each event`() async throws {
        for text in Self.filters {
            let filter = try expression(text)
            let wanted = try await wanted(filter)
            #expect(try await found(filter) == wanted, "\(text)")
            #expect(try await found(filter, isNewestFirst: true) == wanted.reversed(), "\(text)")
            let others = try await found(.not(filter))
            #expect(others.count + wanted.count == events.count, "not (\(text))")
            #expect(Set(others).isDisjoint(with: wanted), "\(text)")
        }
    }

    @Test func `an id is found by the index alone`() async throws {
        let account = try #require(
            events.first { $0.name == "account.registered" }.map(\.stream))
        for text in ["account eq \"\(account)\"", "account in [\"\(account)\"] and type pr"] {
            let filter = try expression(text)
            let wanted = try await wanted(filter)
            #expect(!wanted.isEmpty && wanted.count < events.count)
            #expect(try await found(filter) == wanted)
            #expect(try await found(filter, in: other).isEmpty, "another realm's account")
        }
        let contrary = try expression("account ne \"\(account)\"")
        #expect(try await found(contrary) == wanted(contrary))
    }

    @Test func `a list goes no further than the index is`() async throws {
        let behind = Int64(events.count - 10)
        try world.superuser.run(
            """
            update urd.projection_position set position = \(behind)
            where realm = 'one' and projection = 'event_index'
            """)
        #expect(try await found(try expression("not (account pr)")).last ?? 0 <= behind)
        #expect(try await found(try expression("type pr")).last == Int64(events.count))
    }

    @Test(arguments: [false, true])
    func `a question that stops goes on where it stopped, and misses nothing`(
        isNewestFirst: Bool
    ) async throws {
        try world.grow(to: 60_000)
        var asked = AuditSelection()
        asked.isNewestFirst = isNewestFirst
        asked.filter = try expression(#"actor eq "admin:7""#)
        let whole = try await world.queries.filteredAuditTrail(
            of: realm, asked, after: nil, limit: 1000, within: .seconds(60))
        #expect(whole.stoppedAt == nil && whole.items.count == 59)
        var found: [Int64] = []
        var after: Int64?
        var stops = 0
        repeat {
            let page = try await world.queries.filteredAuditTrail(
                of: realm, asked, after: after, limit: 1000, within: .zero)
            found += page.items.map(\.position)
            after = page.stoppedAt
            stops += 1
        } while after != nil
        #expect(stops > 1)
        #expect(found == whole.items.map(\.position))
    }

    @Test func `the login history has what each column says`() async throws {
        let all = try await world.queries.ask(
            LoginView.history, (LoginSelection(), after: nil, limit: 10_000), in: realm)
        #expect(all.count > 40)
        let account = try #require(all.compactMap(\.account).last)
        let session = try #require(all.compactMap(\.session).first)
        let questions: [(String, (LoginView) -> Bool)] = [
            ("account eq \"\(account)\"", { $0.account == account }),
            ("session eq \"\(session)\"", { $0.session == session }),
            (#"source eq "here""#, { $0.source == "here" }),
            (#"outcome eq "refused" and reason pr"#, { $0.isRefused && $0.reason != nil }),
            ("not (session pr)", { $0.session == nil }),
            (
                #"client eq "web" or method sw "urn:""#,
                {
                    $0.clientID == "web" || $0.method?.hasPrefix("urn:") == true
                }
            ), (#"reason ne "café""#, { $0.reason != "café" }),
            ("ended_at pr and end_reason pr", { $0.endedAt != nil && $0.endReason != nil }),
            (#"type eq "session.refused" and fields.count eq 3"#, { $0.reason == "café" }),
            (#"not (device pr) and position gt 100"#, { $0.device == nil && $0.position > 100 }),
            (#"amr eq "otp" and source eq "here""#, { $0.reason == "café" }),
        ]
        for (text, holds) in questions {
            var asked = LoginSelection()
            asked.filter = try FilterParser.expression(of: text, EventAttributes.ofSignIns)
            let page = try await world.queries.ask(
                LoginView.filteredHistory, (asked, after: nil, limit: 10_000), in: realm)
            #expect(page.items == all.filter(holds), "\(text)")
            #expect(page.stoppedAt == nil)
            let counts = try await world.queries.ask(
                LoginCount.counts, (asked, .outcome, after: nil), in: realm)
            #expect(
                counts.items.reduce(0) { $0 + $1.count } == Int64(page.items.count), "\(text)")
        }
    }

    @Test func `sign-ins are counted once, in whatever groups`() async throws {
        let all = try await world.queries.ask(
            LoginView.history, (LoginSelection(), after: nil, limit: 10_000), in: realm)
        for group in LoginGroup.allCases {
            let counts = try await world.queries.ask(
                LoginCount.counts, (LoginSelection(), group, after: nil), in: realm
            ).items
            #expect(counts.reduce(0) { $0 + $1.count } == Int64(all.count), "\(group)")
            #expect(
                counts.reduce(0) { $0 + $1.refused } == Int64(all.count(where: \.isRefused)),
                "\(group)")
            #expect(Set(counts.map(\.value)).count == counts.count, "\(group)")
            if group == .client {
                let web = all.filter { $0.clientID == "web" }
                #expect(counts.first { $0.value == "web" }?.count == Int64(web.count))
            }
            #expect(
                try await world.queries.ask(
                    LoginCount.counts, (LoginSelection(), group, after: nil),
                    in: RealmID("three") ?? realm
                ).items.isEmpty, "\(group)")
        }
    }

    @Test func `what an index finds is not looked for among all`() throws {
        try world.grow(to: 60_000)
        let account = UUID(high: 7, low: 7)
        let text = "source eq \"rare\""
        var logins = LoginSelection()
        logins.filter = try FilterParser.expression(of: text, EventAttributes.ofSignIns)
        var audit = AuditSelection()
        audit.filter = try expression("account eq \"\(account)\" and type pr")
        let scan = LoginScan(realm, logins, after: nil, size: 8192, .list(limit: 50))
        let question = AuditQuestion(realm, audit, (first: 1, end: 60_000), limit: 50)
        let rows = try world.superuser.transaction { connection throws(Postgres.Failure) in
            _ = try connection.run("set local enable_seqscan = off; set local jit = off")
            let found = try scan.ask(connection) { $0.int64($1, 3) }
            #expect(found.rows.count == 3)
            let rows = try connection.executeOnce(question.statement.sql, question.parameters)
            #expect(rows.count == 3)
            return try connection.executeOnce(
                """
                select coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::int8
                from pg_stat_xact_all_tables
                where relname in ('login_history_1', 'audit_trail_1', 'event_index_1')
                """, Parameters())
        }
        #expect(rows.int64(0, 0) < 64, "\(rows.int64(0, 0)) rows were read")
    }
}

extension EventReferences {
    fileprivate func value(of attribute: String) -> FilterValue? {
        switch attribute {
        case "account": account.map { .id($0) }
        case "session": session.map { .id($0) }
        case "browser": browser.map { .id($0) }
        case "client": client.map { .id($0) }
        case "source": source.map { .text($0) }
        case "device": device.map { .text($0) }
        default: nil
        }
    }
}

extension World {
    fileprivate func follow(_ model: String, _ realm: String) throws {
        let build = try #require(try live(model))
        var step = try Step.project(realm, model, build, page: 500, owner)
        while let now = step, now.position < now.head, now.halted == nil {
            step = try Step.project(realm, model, build, page: 500, owner)
        }
    }

    /// The log as a reader has it that opens nothing.
    fileprivate func recorded(_ realm: RealmID) throws -> [Recorded] {
        let rows = try superuser.executeOnce(
            """
            select position, stream, version, type, at, data::text
            from urd.event where realm = $1 order by position
            """, Parameters(realm: realm.name))
        let leaf = try #require(LeafHash([UInt8](repeating: 1, count: LeafHash.length)))
        return try (0..<rows.count).map { row in
            Recorded(
                realm: realm, position: rows.int64(row, 0), stream: rows.identifier(row, 1),
                version: Int(rows.int32(row, 2)), name: rows.text(row, 3), revision: 1,
                at: rows.instant(row, 4), command: .zero, subject: nil, actor: "admin:tester",
                client: nil, correlation: nil, leaf: leaf,
                open: try #require(rows.object(row, 5)), personal: .none)
        }
    }

    /// Many more entries, of which few are of one actor, one account and one network.
    fileprivate func grow(to many: Int) throws {
        try superuser.run(
            """
            insert into urd.audit_trail_1 (realm, position, at, stream, type, actor)
                select 'one', n, to_timestamp(1790000000 + n), gen_random_uuid(),
                    'session.refreshed', 'admin:' || n % 1000
                from generate_series(
                    (select max(position) + 1 from urd.audit_trail_1 where realm = 'one'), \(many)) n;
            insert into urd.event_index_1 (realm, position, ordinal, account)
                select 'one', n, 0, ('00000000-0000-0007-0000-0000000000' ||
                    case when n % 15000 = 0 then '07' else '08' end)::uuid
                from generate_series(1000, \(many - 1)) n;
            insert into urd.login_history_1 (realm, position, at, outcome, source)
                select 'one', n, to_timestamp(1800000000 + n), 'refused',
                    case when n % 20000 = 0 then 'rare' else 'many' end
                from generate_series(1000, \(many)) n;
            insert into urd.event (
                    realm, position, stream, version, type, revision, at, command, leaf, mac, meta, data)
                select 'one', n, gen_random_uuid(), 1, 'session.refreshed', 1, now(), gen_random_uuid(),
                    sha256(int8send(n)), '', '{"actor":"system"}', '{}'
                from urd.realm_log h, generate_series(h.position + 1, \(many)) n where h.realm = 'one';
            update urd.realm_log set position = \(many) where realm = 'one';
            update urd.projection_position set position = \(many)
                where realm = 'one' and projection in ('audit_trail', 'event_index');
            analyze;
            """)
    }
}
