import PostgresTesting
import Synchronization
import Testing

@testable import Postgres

@Suite struct `The fence of old primaries` {
    private final class Told: Sendable {
        let all = Mutex<[[ServerHistory]]>([])
    }

    private let system: Int64 = 7_000_000_000_000_000_001

    private func history(_ timeline: Int32, of system: Int64? = nil) -> ServerHistory {
        ServerHistory(system: system ?? self.system, timeline: timeline)
    }

    @Test func `the primary fence reads every server of an address`() {
        let cases: [(String, [ServerPlace])] = [
            ("host=a,b port=1,2", [.init(host: "a", port: "1"), .init(host: "b", port: "2")]),
            ("host=a,b port=7", [.init(host: "a", port: "7"), .init(host: "b", port: "7")]),
            ("host=a,b", [.init(host: "a"), .init(host: "b")]),
            (
                "postgresql://u@a,b:5433/db",
                [.init(host: "a", port: "5432"), .init(host: "b", port: "5433")]
            ),
            (
                "host=a,b hostaddr=10.0.0.1,10.0.0.2",
                [
                    .init(host: "a", hostaddr: "10.0.0.1"), .init(host: "b", hostaddr: "10.0.0.2"),
                ]
            ),
            (
                "hostaddr=10.0.0.1,10.0.0.2",
                [.init(hostaddr: "10.0.0.1"), .init(hostaddr: "10.0.0.2")]
            ),
            ("host=a,", [.init(host: "a")]),
            ("dbname=x", []), ("no address", []),
        ]
        for (address, places) in cases { #expect(ServerPlace.all(in: address) == places) }
    }

    @Test func `the primary fence accepts a primary and remembers its timeline before it is used`()
        throws
    {
        let told = Told()
        let fence = PrimaryFence { seen in
            told.all.withLock { $0.append(seen) }
            return seen
        }
        let connection = try fence.connect(TestCluster.shared.address("postgres", "postgres"))
        #expect(connection.history == fence.current)
        #expect(connection.history?.timeline == 1)
        #expect(fence.isCurrent(connection))
        _ = try fence.connect(TestCluster.shared.address("postgres", "postgres"))
        #expect(told.all.withLock { $0 } == [[], [try #require(fence.current)]])
    }

    @Test func `the primary fence refuses an earlier timeline of the same system`() throws {
        let here = try #require(
            try PrimaryFence().connect(TestCluster.shared.address("postgres", "postgres")).history)
        let fence = PrimaryFence { _ in [history(here.timeline + 4, of: here.system)] }
        let failure = #expect(throws: Failure.self) {
            _ = try fence.connect(TestCluster.shared.address("postgres", "postgres"))
        }
        #expect(failure?.isConnectionLost == true)
        #expect(
            failure?.description
                == "the server is at timeline 1, and was left behind by a failover to timeline 5")
    }

    @Test func `the primary fence moves on to another system and never back`() throws {
        let address = TestCluster.shared.address("postgres", "postgres")
        let here = try #require(try PrimaryFence().connect(address).history)
        let other = history(9, of: here.system &+ 1)
        let onward = PrimaryFence { seen in seen.isEmpty ? [other] : seen }
        #expect(try onward.connect(address).history == here)
        #expect(onward.current == here)
        let back = PrimaryFence { _ in [here, other] }
        let failure = #expect(throws: Failure.self) { _ = try back.connect(address) }
        #expect(failure?.description.contains("which was left for another one") == true)
    }

    @Test
    func `the primary fence drops a server's pools once one connection shows a later timeline`()
        async throws
    {
        let pair = try StandbyPair()
        let fence = PrimaryFence()
        let both =
            "host=\(pair.primary.folder),\(pair.standby.folder) user=postgres dbname=postgres"
        let pool = Database(both, connections: 1, fence: fence)
        defer { pool.close() }
        let ask: @Sendable (Connection) throws(Failure) -> Int32? = { connection in
            connection.history?.timeline
        }
        #expect(try await pool.run(ask) == 1)
        // The old primary goes on: nothing breaks the connection to it.
        try pair.promote()
        #expect(try await pool.run(ask) == 1)
        _ = try fence.connect(pair.standby.address("postgres", "postgres"))
        #expect(try await pool.run(ask) == 2)
        // Whichever server libpq finds first.
        #expect(try fence.connect(both).history?.timeline == 2)
        // And one that is no pool's yet asks them all.
        #expect(try PrimaryFence().connect(both).history?.timeline == 2)
    }
}
