import EventSourcing
import Postgres
import PostgresTesting
import Testing

@testable import EventStore

@Suite struct `The lock of a seal` {
    @Test func `a role that reads takes every advisory lock, and the log is sealed`() async throws {
        let log = try TamperedLog()
        try await log.append(10)
        let reader = try Connection(log.database.observer)
        try reader.run(
            "select pg_advisory_lock(hashtextextended('urd sealer/\(log.realm)', 0))")
        try await log.sealer.sealOnce()
        #expect(try log.state() == SealingState(sealed: 10, head: 10, halt: nil))
    }

    @Test
    func `the seal of a log that does not move is told by the database, whatever session locks it`()
        async throws
    {
        let log = try await TamperedLog.sealed(20, every: 10)
        #expect(try standstill(log).seal == nil)
        let stuck = try Connection(log.database.application)
        try stuck.run("begin; select from urd.seal for update")
        // What the log wrote is of a time that is long over.
        try await log.append(10)
        try await log.sealer.sealOnce()
        #expect(try log.count("checkpoint") == 2)
        let seal = try #require(try standstill(log).unsealed)
        #expect(seal.realm == log.realm.name && seal.realms == 1)
        try stuck.run("rollback")
        try await log.sealer.sealOnce()
        #expect(try standstill(log).seal == nil)
    }

    /// During an upgrade such a node runs beside this one.
    @Test func `a log that a node without the row sealed is no standstill`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try log.attack("update urd.seal set size = 0")
        #expect(try standstill(log).seal == nil)
        try log.attack("delete from urd.seal")
        #expect(try standstill(log).seal == nil)
        try await log.append(10)
        #expect(try standstill(log).seal?.realm == log.realm.name)
        try await log.sealer.sealOnce()
        #expect(try standstill(log).seal == nil)
    }

    private func standstill(_ log: TamperedLog) throws -> Standstill {
        try Standstill.read(Connection(log.database.application))
    }
}
