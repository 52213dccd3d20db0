import Foundation
import Postgres
import PostgresTesting
import Testing

@Suite struct `The threads of a pool` {
    private let address = TestCluster.shared.address("postgres", "postgres")

    private func threads(_ pool: Database, _ count: Int) async throws -> Set<UInt> {
        try await withThrowingTaskGroup(of: UInt.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await pool.run { connection throws(Failure) in
                        _ = try connection.run("select pg_sleep(0.005)")
                        return UInt(pthread_self())
                    }
                }
            }
            return try await group.reduce(into: []) { $0.insert($1) }
        }
    }

    @Test func `a pool's threads do all the work, one per connection`() async throws {
        let single = Database(address, connections: 1)
        defer { single.close() }
        let one = try await threads(single, 20)
        #expect(one.count == 1)
        let several = Database(address, connections: 3)
        defer { several.close() }
        let three = try await threads(several, 60)
        #expect(three.count == 3)
        #expect(one.isDisjoint(with: three))
    }

    @Test func `a pool's threads notice a lost server before they hand a connection out`()
        async throws
    {
        let pool = Database(address, connections: 1)
        defer { pool.close() }
        let killer = try Connection(address)
        for _ in 0..<5 {
            let process = try await pool.run { connection throws(Failure) in
                connection.serverProcess
            }
            // Returns when it is gone.
            try killer.run("select pg_terminate_backend(\(process), 5000)")
            let next = try await pool.run { connection throws(Failure) in
                _ = try connection.run("select 1")
                return connection.serverProcess
            }
            #expect(next != process)
        }
    }

    @Test func `a pool's threads reset a failed transaction`() async throws {
        let pool = Database(address, connections: 1)
        defer { pool.close() }
        await #expect(throws: Failure.self) {
            try await pool.run { connection throws(Failure) in
                try connection.transaction { connection throws(Failure) in
                    try connection.run("create temporary table half ()")
                    try connection.run("select 1 / 0")
                }
            }
        }
        let exists = try await pool.run { connection throws(Failure) in
            try connection.executeOnce("select to_regclass('half') is null", Parameters())
                .bool(0, 0)
        }
        #expect(exists)
    }

    @Test func `a pool's threads do what was queued before they end, and nothing after`()
        async throws
    {
        let pool = Database(address, connections: 1)
        let gate = Monitor((isEntered: false, isOpen: false))
        async let held: Void = pool.run { connection throws(Failure) in
            gate.wait { state -> Void? in
                state.isEntered = true
                return state.isOpen ? () : nil
            }
            try connection.run("select 1")
        }
        while !gate.withLock({ $0.isEntered }) { await Task.yield() }
        async let queued = threads(pool, 10)
        while pool.queueLength < 10 { await Task.yield() }
        pool.close()
        gate.withLock { $0.isOpen = true }
        gate.wakeAll()
        try await held
        #expect(try await queued.count == 1)
        await #expect(throws: Database.Busy.self) {
            try await pool.run { connection throws(Failure) in _ = try connection.run("select 1") }
        }
    }

    @Test func `a pool's callers wait for one attempt at most at a server that never answers`()
        async throws
    {
        let server = try SilentServer()
        let pool = Database(server.address, connections: 2)
        defer { pool.close() }
        let started = ContinuousClock.now
        let failures = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do {
                        try await pool.run { connection throws(Failure) in
                            _ = try connection.run("select 1")
                        }
                        return false
                    } catch {
                        return (error as? Failure)?.isConnectionLost == true
                    }
                }
            }
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(failures.count == 20 && !failures.contains(false))
        #expect(ContinuousClock.now - started < .seconds(8))
        #expect(!pool.isReachable)
    }
}
