import Postgres
import PostgresTesting
import Testing
import Values

@testable import ReadModels

@Suite struct `A projection that is rebuilt equals the one that moved with the log` {
    @Test func `a rebuilt projection equals the live one after a random history in several realms`()
        throws
    {
        let world = try World()
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        for (index, realm) in ["one", "two", "system"].enumerated() {
            var history = RandomHistory(seed: seed &+ UInt64(index))
            var left = 400
            while left > 0 {
                let batch = history.number(1...min(40, left))
                try world.append(history.events(batch), in: realm)
                left -= batch
            }
        }
        for projection in Projection.all {
            let comparison = try world.engine().rebuild(projection.name)
            guard case .equal = comparison else {
                Issue.record("\(projection.name), seed \(seed): \(comparison)")
                continue
            }
            #expect(try world.events(for: projection) > 0, "\(projection.name), seed \(seed)")
        }
    }

    @Test
    func `a rebuilt projection equals the live one for every page size and several connections`()
        throws
    {
        let world = try World()
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var history = RandomHistory(seed: seed)
        for _ in 0..<30 { try world.append(history.events(20), in: "one") }
        var idle: [String] = []
        for projection in Projection.all {
            var results: [[String]] = []
            for page in [1, 7, 1000] as [Int64] {
                let build = try Builds.create(projection, sharded: false, world.owner)
                var step = try Step.project("one", projection.name, build, page: page, world.owner)
                while let now = step, now.position < now.head, now.halted == nil {
                    step = try Step.project(
                        "one", projection.name, build, page: page, world.owner)
                }
                #expect(
                    step?.position == 600, "\(projection.name) halted: \(String(describing: step))")
                results.append(try world.rows("\(projection.name)_\(build)"))
            }
            if projection.isShardable {
                let build = try Builds.create(projection, sharded: true, world.owner)
                for shard in 0..<3 {
                    for page in 0..<6 {
                        try world.owner.run(
                            """
                            select \(projection.applyName(build))(
                                'one', \(page * 100 + 1), \(page * 100 + 100), null,
                                \(shard), 3)
                            """)
                    }
                }
                results.append(try world.rows("\(projection.name)_\(build)"))
            }
            if try world.events(for: projection) == 0 { idle.append(projection.name) }
            for result in results {
                #expect(result == results[0], "\(projection.name), seed \(seed)")
            }
        }
        // So short a history may have nothing for one of them, by chance.
        #expect(idle.count <= 2, "seed \(seed): \(idle)")
    }

    @Test func `a rebuilt projection equals the live one while writers go on`() throws {
        let world = try World()
        let writer = Writer(world.database.superuser, realm: "one", seed: 7)
        writer.waitForBatches(100)
        for name in ["clients", "apps", "audit_trail", "daily_counts"] {
            let comparison = try world.engine().rebuild(name)
            guard case .equal = comparison else {
                Issue.record("\(name): \(comparison)")
                continue
            }
        }
        #expect(writer.stop() == nil)
        for name in ["clients", "apps"] {
            #expect(try world.live(name) == 2)
            #expect(try world.status(name, "one")?.state == .attached)
            #expect(try world.status(name, "one")?.lag == 0)
            guard case .equal = try world.engine().verify(name) else {
                Issue.record("\(name) drifted")
                continue
            }
        }
    }

    @Test func `a rebuilt projection equals the live one for a realm created meanwhile`() throws {
        let world = try World()
        var history = RandomHistory(seed: 3)
        try world.append(history.events(10), in: "one")
        let clients = try #require(Projection.all.first { $0.name == "clients" })
        let build = try Builds.create(clients, sharded: false, world.owner)
        var other = RandomHistory(seed: 4)
        try world.append(other.events(50), in: "two")
        let states = try ProjectionStatus.read(world.superuser).filter {
            $0.projection == "clients" && $0.realm == "two"
        }
        #expect(states.map(\.build) == [1, build])
        #expect(states.allSatisfy { $0.lag == 0 })
        #expect(try world.rows("clients_1").count == world.rows("clients").count)
    }
}

@Suite struct `A read model that was changed by hand` {
    @Test func `a read model changed by hand is found by verify and mended by a rebuild`() throws {
        let world = try World()
        var history = RandomHistory(seed: 11)
        try world.append(history.events(300), in: "one")
        let before = try world.rows("clients_1")
        try world.superuser.run(
            """
            update urd.clients_1 set disabled = not disabled
                where client = (select min(client::text)::uuid from urd.clients_1);
            delete from urd.clients_1
                where client = (select max(client::text)::uuid from urd.clients_1)
            """)
        guard case .different(let differences) = try world.engine().verify("clients") else {
            Issue.record("the drift was not seen")
            return
        }
        #expect(differences.map(\.kind) == [.changed, .missing])
        #expect(differences.first?.key.hasPrefix("(one,") == true)
        #expect(try world.live("clients") == 1)
        guard case .different = try world.engine().rebuild("clients") else {
            Issue.record("the drift was not told")
            return
        }
        let live = try #require(try world.live("clients"))
        #expect(live > 1)
        #expect(try world.rows("clients_\(live)") == before)
    }
}
