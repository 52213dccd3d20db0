import EventSourcing
import JSON
import Postgres
import PostgresTesting
import Testing
import Values

@testable import ReadModels

@Suite struct `A whole realm as of a moment` {
    private static let parts = [
        "accounts", "sessions", "clients", "passkeys", "credentials", "findings", "login_history",
        "daily_counts",
    ]

    private let world: World
    private let realm: RealmID
    private let seed = UInt64.random(in: 0...UInt64.max)

    init() throws {
        world = try World()
        realm = try #require(RealmID("one"))
        print("seed \(seed)")
    }

    private func live(_ count: Int) throws {
        var history = RandomHistory(seed: seed)
        for _ in 0..<(count / 10) { try world.append(history.events(10), in: "one") }
        var other = RandomHistory(seed: ~seed)
        try world.append(other.events(40), in: "two")
        let follower = world.engine()
        for projection in [
            "login_history", "daily_counts", "audit_trail", "credentials", "event_index",
        ] {
            _ = try follower.rebuild(projection)
        }
    }

    private func store(_ pageSize: Int32 = 50_000) -> AsOfBuildStore {
        AsOfBuildStore(world.pool, pageSize: pageSize)
    }

    private func asked(
        _ position: Int64, _ store: AsOfBuildStore? = nil, realm: RealmID? = nil
    ) async throws -> AsOfBuild? {
        let build = AsOfBuild(
            realm: realm ?? self.realm, id: newID(), asker: "operator:test",
            moment: "\(position)", epoch: 1, position: position, at: nil,
            askedAt: Timestamp(microseconds: 1_790_000_000_000_000))
        return try await (store ?? self.store()).create(build) ? build : nil
    }

    private func made(_ position: Int64, _ store: AsOfBuildStore? = nil) async throws -> AsOfBuild {
        let store = store ?? self.store()
        let build = try #require(try await asked(position, store))
        let maker = newID()
        let claimed = try #require(try await store.claim(build.id, by: maker))
        try await AsOfBuildRun(store, maker: maker).make(claimed)
        let ready = try #require(try await store.build(build.id, in: realm))
        #expect(ready.state == .ready && ready.fault == nil)
        #expect(ready.reached == position)
        return ready
    }

    /// All rows of the realm, without what a table's name says.
    private func rows(_ relation: String) throws -> [String] {
        let rows = try world.superuser.executeOnce(
            "select t::text from \(relation) t where t.realm = 'one' order by 1", Parameters())
        return (0..<rows.count).map { rows.text($0, 0) }
    }

    /// Live read models that are behind are not copied: everything is applied.
    private func leaveLiveBehind() throws {
        try world.superuser.run(
            "update urd.projection_position set position = 0, attached = false where realm = 'one'")
    }

    private func schemas() throws -> String {
        try world.value(
            "select count(*) from pg_namespace where nspname like 'analyst\\_at\\_%'")
    }

    @Test func `a build at the head equals the live read models row by row, for every page size`()
        async throws
    {
        try live(600)
        for pageSize in [50_000, 100, 7, 1] as [Int32] {
            // The first is copied.
            if pageSize == 100 { try leaveLiveBehind() }
            let store = store(pageSize)
            let build = try await made(600, store)
            for part in Self.parts {
                let number = try #require(try world.live(part))
                let now = try rows("urd.\(part)_\(number)")
                #expect(try rows("\(build.schema).\(part)") == now, "\(part), pages of \(pageSize)")
                let count = build.counts.first { $0.projection == part }?.rows
                #expect(count == Int64(now.count), "\(part)")
            }
            try await store.cancel(build.id, in: realm)
        }
    }

    @Test func `a build at any position equals the read models of a log that ended there`()
        async throws
    {
        try live(600)
        let earlier = try World()
        var history = RandomHistory(seed: seed)
        var reached: Int64 = 0
        for position in [1, 17, 250, 430, 520, 599] as [Int64] {
            try earlier.append(history.events(Int(position - reached)), in: "one")
            reached = position
            for projection in ["login_history", "daily_counts", "credentials"] {
                _ = try earlier.engine().rebuild(projection)
            }
            let build = try await made(position, store(13))
            for part in Self.parts {
                let number = try #require(try earlier.live(part))
                let then = try earlier.superuser.executeOnce(
                    "select t::text from urd.\(part)_\(number) t order by 1", Parameters())
                #expect(
                    try rows("\(build.schema).\(part)")
                        == (0..<then.count).map { then.text($0, 0) },
                    "\(part) at \(position), seed \(seed)")
            }
            try await store().cancel(build.id, in: realm)
        }
    }

    @Test func `before the first event nothing was there`() async throws {
        try live(20)
        let build = try await made(0)
        #expect(build.counts.count == Self.parts.count)
        #expect(build.counts.allSatisfy { $0.rows == 0 })
    }

    @Test func `a maker that vanished is followed by another, and moves nothing any more`()
        async throws
    {
        try live(300)
        try leaveLiveBehind()
        let store = store(10)
        let build = try #require(try await asked(300, store))
        let (first, second) = (newID(), newID())
        _ = try #require(try await store.claim(build.id, by: first))
        let key = "'one', '\(build.id)', '\(first)'"
        #expect(try world.value("select urd.open_as_of(\(key))") == "true")
        for _ in 0..<9 {
            for part in ["accounts", "login_history"] {
                _ = try world.value("select o_position from urd.step_as_of(\(key), '\(part)')")
            }
        }
        #expect(try await store.claim(build.id, by: second) == nil, "it is leased")
        let half = try #require(try await store.build(build.id, in: realm))
        #expect(half.state == .running && half.reached > 0 && half.reached < 300)
        #expect(half.counts.isEmpty && half.expiresAt == nil)
        #expect(try world.value("select urd.show_as_of(\(key))") == "false", "it is half")
        try world.database.asSuperuser(
            "update urd.as_of_build set lease_until = now() - interval '1s'")
        let claimed = try #require(try await store.claim(build.id, by: second))
        #expect(
            try world.value(
                "select count(*) from urd.step_as_of(\(key), 'accounts')") == "0", "it was lost")
        #expect(try world.value("select urd.open_as_of(\(key))") == "false")
        #expect(try await !store.keep(build, by: first))
        try await AsOfBuildRun(store, maker: second).make(claimed)
        for part in Self.parts {
            let number = try #require(try world.live(part))
            #expect(try rows("\(build.schema).\(part)") == rows("urd.\(part)_\(number)"), "\(part)")
        }
    }

    @Test func `a read model that is replaced meanwhile is built as it was, until it is dropped`()
        async throws
    {
        try live(200)
        for replacements in [1, 2] {
            let build = try #require(try await asked(200))
            let maker = newID()
            let claimed = try #require(try await store().claim(build.id, by: maker))
            let key = "'one', '\(build.id)', '\(maker)'"
            #expect(try world.value("select urd.open_as_of(\(key))") == "true")
            for _ in 0..<replacements { _ = try world.engine().rebuild("sessions") }
            try await AsOfBuildRun(store(), maker: maker).make(claimed)
            let made = try #require(try await store().build(build.id, in: realm))
            guard replacements == 1 else {
                #expect(made.state == .failed && made.fault == .notApplicable)
                continue
            }
            #expect(made.state == .ready)
            let number = try #require(try world.live("sessions"))
            #expect(try rows("\(build.schema).sessions") == rows("urd.sessions_\(number)"))
        }
    }

    @Test func `a realm has two, and what is not wanted any more leaves no schema`() async throws {
        try live(50)
        let (first, second) = (try await made(50), try await made(30))
        #expect(try await asked(10) == nil)
        let elsewhere = try #require(RealmID("two"))
        let other = try #require(try await asked(5, realm: elsewhere))
        #expect(
            try await store().builds(in: realm).map(\.id).sorted()
                == [first.id, second.id].sorted())
        #expect(try schemas() == "2")
        try await store().cancel(first.id, in: realm)
        let third = try #require(try await asked(10))
        #expect(try await store().sweep() == 1)
        // Its hour is over.
        try world.database.asSuperuser(
            "update urd.as_of_build set finished_at = finished_at - interval '61 minutes' where id = '\(second.id)'"
        )
        #expect(try await store().build(second.id, in: realm)?.state == .expired)
        let gone = try await store().items(
            .accounts, of: first, account: nil, after: nil, limit: 10)
        #expect(gone == nil)
        #expect(try await store().sweep() == 1)
        #expect(try schemas() == "0")
        // Nobody remembers what it was.
        try world.database.asSuperuser(
            "create schema analyst_at_\(String(repeating: "0", count: 32)) authorization urd_owner")
        #expect(try await store().sweep() == 1)
        #expect(try schemas() == "0")
        #expect(try await store().cancel(third.id, in: realm))
        #expect(try await store().cancel(other.id, in: elsewhere))
    }

    @Test func `what is read while its hour ends goes when nobody reads it any more`() async throws
    {
        try live(50)
        let build = try await made(50)
        let reader = try Connection(world.database.superuser)
        try reader.run("begin; select * from \(build.schema).accounts")
        try await store().cancel(build.id, in: realm)
        #expect(try await store().sweep() == 0)
        #expect(try schemas() == "1")
        try reader.run("commit")
        #expect(try await store().sweep() == 1)
    }

    @Test func `an event that is missing or cannot be applied is no build`() async throws {
        try live(100)
        try leaveLiveBehind()
        try world.superuser.run(
            "set session_replication_role = replica; delete from urd.event where realm = 'one' and position = 61"
        )
        let store = store(10)
        let build = try #require(try await asked(100, store))
        let maker = newID()
        let claimed = try #require(try await store.claim(build.id, by: maker))
        try await AsOfBuildRun(store, maker: maker).make(claimed)
        let failed = try #require(try await store.build(build.id, in: realm))
        #expect(failed.state == .failed && failed.fault == .logDamaged)
        #expect(try await store.sweep() == 1)
        let before = try await made(60, store)
        #expect(before.state == .ready)
        try world.superuser.run(
            "update urd.event set type = 'account.registered', data = '{\"mailbox\":\"no\"}' where realm = 'one' and position = 5"
        )
        let poisoned = try #require(try await asked(50, store))
        let next = try #require(try await store.claim(poisoned.id, by: maker))
        try await AsOfBuildRun(store, maker: maker).make(next)
        #expect(try await store.build(poisoned.id, in: realm)?.fault == .notApplicable)
    }

    @Test func `pages of lists have each row once, in the order of ids`() async throws {
        try live(600)
        let build = try await made(600)
        for list in AsOfList.allCases {
            var found: [String] = []
            var after: AsOfPlace?
            repeat {
                let page = try #require(
                    try await store().items(list, of: build, account: nil, after: after, limit: 7))
                found += page.map(\.place.text)
                after = page.count == 7 ? page.last?.place : nil
            } while after != nil
            #expect(found == found.sorted() && Set(found).count == found.count)
            #expect(try rows("\(build.schema).\(list.rawValue)").count == found.count)
        }
        let sessions = try await store().items(
            .sessions, of: build, account: nil, after: nil, limit: 1000)
        let owned = try #require(sessions?.first { $0.members["account"] != nil })
        let account = try #require(owned.members["account"]?.string.flatMap { UUID($0) })
        let his = try await store().items(
            .sessions, of: build, account: account, after: nil, limit: 1000)
        #expect(his?.isEmpty == false)
        #expect(his?.allSatisfy { $0.members["account"] == owned.members["account"] } == true)
    }
}

private func newID() -> UUID {
    var random = SystemRandomNumberGenerator()
    return .v7(at: Timestamp(microseconds: 1_790_000_000_000_000), using: &random)
}
