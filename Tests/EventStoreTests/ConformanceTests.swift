import EventSourcing
import EventStore
import LogTesting
import Postgres
import PostgresTesting
import Testing

@Suite struct `The log on PostgreSQL` {
    /// Each check has realms of its own.
    private static let shared = Result { try TestStore() }

    @Test(arguments: LogPromise.allCases)
    func `the log on PostgreSQL keeps the promises of a log`(promise: LogPromise) async throws {
        try await LogConformance(Self.shared.get().log).check(promise)
    }

    @Test func `the log on PostgreSQL answers each command as the log in memory does`() async throws
    {
        let seed = UInt64.random(in: 0 ... .max)
        let count = Cycles.of(600, long: 20_000)
        try await RandomCommands.compare(
            MemoryLog(), Self.shared.get().log, seed: seed, count: count)
    }
}
