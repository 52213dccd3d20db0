import EventSourcing
import ReadModels
import Telemetry
import Testing
import Values

@testable import API

@Suite struct `Readers that take a kept cursor over at once` {
    /// The database has them one after the other; their answers come in any order.
    @Test(arguments: [0, 1, 2])
    func `of readers that take a cursor over at once the last one in the database has it`(late: Int)
        async throws
    {
        let world = try await World()
        let cursors = world.feedCursors
        let rings = EventRings(world.log, hub: world.log.hub)
        let leases = FeedLeases(rings, metrics: Metrics())
        let (realm, subscription) = (try #require(RealmID("acme")), UUID.random())
        let names = (0..<3).map { _ in
            FeedLeaseName(realm, subscription, reader: .random())
        }
        cursors.hold(names[late].reader)
        var tasks: [Task<FeedLease?, any Error>] = []
        for name in names {
            tasks.append(
                Task {
                    try await leases.claim(name, from: .start, takingOver: true, cursors).1
                })
            while cursors.reader(of: subscription) != name.reader { await Task.yield() }
            if name != names[late] { _ = try await tasks.last?.value }
        }
        cursors.hold(nil)
        var claimed: [FeedLease] = []
        for task in tasks { claimed.append(try #require(try await task.value)) }
        #expect(claimed.map(\.standing) == [.lost, .lost, .held])
    }
}
