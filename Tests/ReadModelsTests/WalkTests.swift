import Postgres
import PostgresTesting
import Testing

@testable import ReadModels

@Suite struct `Projections that follow a log together` {
    private let three = ["a", "b", "c"].map { fragile(.following, name: $0) }

    /// One step of all: their names, where they are, and a star with those that walk.
    private func walk(_ world: World, page: Int) throws -> [String] {
        let rows = try world.superuser.executeOnce(
            """
            select o_projection || o_position || case when o_walks then '*' else '' end
            from urd.walk('one', \(page)) order by 1
            """, Parameters())
        return (0..<rows.count).map { rows.text($0, 0) }
    }

    private func advance(_ projection: String, by page: Int64, _ world: World) throws {
        _ = try Step.project("one", projection, 1, page: page, world.superuser)
    }

    @Test func `projections that share a page each apply all of it`() throws {
        let world = try World(three)
        try world.append(numbered([1, 2, 3, 4, 5]), in: "one")
        #expect(try walk(world, page: 3) == ["a3*", "b3*", "c3*"])
        #expect(try walk(world, page: 3) == ["a5*", "b5*", "c5*"])
        #expect(try walk(world, page: 3) == ["a5*", "b5*", "c5*"])
        for table in ["a_1", "b_1", "c_1"] {
            #expect(try world.rows(table) == (1...5).map { "(one,\($0),\($0))" })
        }
    }

    @Test func `projections that share a page wait for those less than a page behind`() throws {
        let world = try World(three)
        try world.append(numbered([1, 2, 3, 4, 5]), in: "one")
        try advance("a", by: 2, world)
        try advance("b", by: 4, world)
        #expect(try walk(world, page: 100) == ["a2*", "b4*", "c4*"])
        #expect(try walk(world, page: 100) == ["a4*", "b4*", "c4*"])
        #expect(try walk(world, page: 100) == ["a5*", "b5*", "c5*"])
        #expect(try world.rows("c_1").count == 5)
    }

    @Test func `projections that share a page leave stragglers behind until they are near`() throws
    {
        let world = try World(three)
        try world.append(numbered(Array(1...9)), in: "one")
        try advance("a", by: 9, world)
        #expect(try walk(world, page: 3) == ["a9*", "b0", "c0"])
        try advance("b", by: 7, world)
        try world.append(numbered([0]), in: "one")
        #expect(try walk(world, page: 3) == ["a9*", "b9*", "c0"])
        #expect(try walk(world, page: 3) == ["a10*", "b10*", "c0"])
        #expect(try world.rows("b_1").count == 10)
        #expect(try world.rows("c_1").isEmpty)
    }

    @Test func `projections that share a page go on without one that halts`() throws {
        let world = try World([
            fragile(.following, name: "a"), fragile(.following, name: "b", limit: 1000),
        ])
        try world.append(numbered([1, 99, 2]), in: "one")
        #expect(try walk(world, page: 100) == ["a1", "b3*"])
        let halted = try #require(try world.status("a", "one"))
        #expect(halted.state == .halted)
        #expect(halted.halt?.position == 2)
        try world.owner.run("alter table urd.a_1 drop constraint number_is_small")
        #expect(try walk(world, page: 100) == ["a1", "b3*"])
        try advance("a", by: 100, world)
        #expect(try walk(world, page: 100) == ["a3*", "b3*"])
    }

    @Test func `projections that share a page all stop at a hole`() throws {
        let world = try World(three)
        try world.append(numbered([1, 2, 3, 4]), in: "one")
        try world.superuser.run(
            """
            set session_replication_role = replica;
            delete from urd.event where realm = 'one' and position = 3;
            set session_replication_role = origin
            """)
        #expect(try walk(world, page: 100) == ["a2", "b2", "c2"])
        for name in ["a", "b", "c"] {
            let status = try #require(try world.status(name, "one"))
            #expect(status.halt?.position == 3)
            #expect(status.halt?.why == "the log has a hole")
        }
    }

    @Test func `projections that share a page leave those that another node moves`() throws {
        let world = try World(three)
        try world.append(numbered([1, 2]), in: "one")
        let other = try Connection(world.database.superuser)
        try other.run(
            "begin; select urd.project('one', 'b', 1, 1)")
        #expect(try walk(world, page: 100) == ["a2*", "c2*"])
        try other.run("commit")
        #expect(try walk(world, page: 100) == ["a2*", "b2*", "c2*"])
        #expect(try world.rows("b_1").count == 2)
    }
}
