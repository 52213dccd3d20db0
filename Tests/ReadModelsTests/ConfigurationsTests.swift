import EventSourcing
import EventStore
import Identity
import Postgres
import Testing

@testable import ReadModels

@Suite struct `The configuration of a realm` {
    @Test
    func `a realm's configuration is the same in the read model and on the node that writes it`()
        throws
    {
        let projection = try #require(Projection.all.first { $0.name == "configurations" })
        let configuring = EventCatalogue.all.map(\.name).filter(EventCatalogue.isConfiguration)
        #expect(Set(projection.types ?? []) == Set(configuring))
        #expect(!configuring.isEmpty)
    }

    @Test func `a realm's configuration is reread exactly when another node changed it`()
        async throws
    {
        let world = try World()
        let hub = CommitHub()
        let realm = try #require(RealmID("one"))
        let configurations = Configurations(world.pool, hub: hub)
        let polling = Task { try await configurations.poll(every: .milliseconds(5)) }
        defer { polling.cancel() }
        var history = RandomHistory(seed: 1)
        let events = history.events(300)
        try world.append(events, in: "one")
        let last = try #require(
            events.lastIndex { EventCatalogue.isConfiguration($0.type) })
        while hub.configuration(of: realm) == 0 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(hub.configuration(of: realm) == Int64(last + 1))
    }

    @Test func `a realm's configuration of another epoch is reread, at any position`() async throws
    {
        let world = try World()
        let hub = CommitHub()
        let realm = try #require(RealmID("one"))
        let configurations = Configurations(world.pool, hub: hub)
        var history = RandomHistory(seed: 2)
        try world.append(history.events(300), in: "one")
        await configurations.look()
        let before = hub.configuration(of: realm)
        #expect(before > 10)
        // A standby that lost the tail takes the place of the primary.
        try world.superuser.run(
            """
            update urd.configurations_1 set position = 7 where realm = 'one';
            update urd.realm_log set epoch = epoch + 1 where realm = 'one'
            """)
        await configurations.look()
        let after = hub.configuration(of: realm)
        #expect(after != before)
        // What changes now is far behind the tail that was lost, and is heard of.
        try world.superuser.run("update urd.configurations_1 set position = 8 where realm = 'one'")
        await configurations.look()
        #expect(hub.configuration(of: realm) != after)
    }
}
