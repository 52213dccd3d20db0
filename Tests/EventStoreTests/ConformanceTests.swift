import EventSourcing
import EventStore
import LogTesting
import Postgres
import PostgresTesting
import Testing

@Suite struct `The log on PostgreSQL` {
    @Test(arguments: LogPromise.allCases)
    func `keeps the promises of a log`(promise: LogPromise) async throws {
        let store = try TestStore()
        defer { store.log.close() }
        try await LogConformance(store.log).check(promise)
    }

    @Test func `does what the log in memory does, command by command`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let seed = UInt64.random(in: 0 ... .max)
        try await RandomCommands.compare(MemoryLog(), store.log, seed: seed, count: 600)
    }
}
