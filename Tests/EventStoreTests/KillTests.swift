import EventSourcing
import EventStore
import Foundation
import Postgres
import PostgresTesting
import Testing
import Values

/// Sixteen callers keep a log busy while parts of the system die. What they were told stands in a
/// ledger outside of PostgreSQL and is compared with the log after every blow.
@Suite(.serialized) struct `Killing parts under load` {
    /// A log that is written to, in a cluster that flushes.
    private struct Load {
        let cluster: TestCluster
        let store: TestStore
        let realm = newRealm()
        let seed: UInt64
        var ledger = LedgerFile("kill")
        var seen = 0

        init() throws {
            cluster = try TestCluster(settings: ["fsync=on", "restart_after_crash=on"])
            store = try TestStore(cluster)
            seed = UInt64.random(in: 0 ... .max / 100_000)
            FileHandle.standardError.write(Data("seed \(seed)\n".utf8))
        }

        func writer(_ number: Int = 0) throws -> WriterProcess {
            try WriterProcess(
                store.database, master: store.master, realm: realm, ledger: ledger.path,
                callers: 16, seed: seed + UInt64(number))
        }

        /// Waits until callers were told of so many more commands.
        mutating func waitForMore(_ count: Int = 200) async throws {
            let goal = seen + count
            let deadline = ContinuousClock.now + .seconds(60)
            while true {
                try ledger.catchUp()
                if ledger.kept.count >= goal { break }
                guard ContinuousClock.now < deadline else {
                    throw NeverHappened(description: "The log did not go on.")
                }
                try await Task.sleep(for: .milliseconds(5))
            }
            seen = ledger.kept.count
        }

        mutating func audit() async throws {
            try ledger.catchUp()
            let session = try await Session(store.database.superuser)
            let audit = LogAudit(session: session, keyring: store.keyring, realm: realm)
            try await audit.run(ledger)
        }

        func end() {
            store.log.close()
            store.pool.close()
            ledger.remove()
        }
    }

    @Test func `stopping PostgreSQL at once under load loses no acknowledged event`() async throws {
        var load = try Load()
        defer { load.end() }
        let writer = try load.writer()
        for _ in 0..<Cycles.of(5, long: 50) {
            try await load.waitForMore()
            let cluster = load.cluster
            try await offPool { try cluster.stop(immediate: true) }
            try await offPool { try cluster.start() }
            // Told before, or in the instant of the stop: all of it must be there.
            try await load.audit()
        }
        try await load.waitForMore()
        #expect(try await writer.finish() == 0)
        try await load.audit()
    }

    @Test(arguments: [SIGKILL, SIGTERM])
    func `killing a committer's server process under load loses no acknowledged event`(
        signal: Int32
    ) async throws {
        var load = try Load()
        defer { load.end() }
        let writer = try load.writer()
        for _ in 0..<Cycles.of(5, long: 50) {
            try await load.waitForMore()
            let session = try await Session(load.store.database.superuser)
            let committers = try await session.rows(
                """
                select pid from pg_stat_activity where datname = current_database()
                    and application_name like 'urd committer%'
                """
            ) { $0.int32($1, 0) }
            #expect(!committers.isEmpty)
            for process in committers { kill(process, signal) }
        }
        try await load.waitForMore()
        #expect(try await writer.finish() == 0)
        try await load.audit()
    }

    @Test func `killing a node under load leaves no command half done`() async throws {
        var load = try Load()
        defer { load.end() }
        for number in 0..<Cycles.of(5, long: 50) {
            let writer = try load.writer(number)
            try await load.waitForMore()
            try await writer.kill()
            try await load.audit()
        }
    }
}
