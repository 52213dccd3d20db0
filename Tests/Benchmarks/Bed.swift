import EventSourcing
import EventStore
import Glibc
import Postgres
import PostgresTesting
import ReadModels
import Threads

/// A PostgreSQL of our own with the settings that `urd dev` gives it, and logs on it.
final class Bed: Sendable {
    let cluster: TestCluster
    /// Where `pgbench` works.
    let bare: TestDatabase

    init() throws {
        cluster = try TestCluster(settings: ["fsync=on"])
        // As `urd dev` makes its cluster.
        try cluster.stop()
        let checksums = [
            try Self.binary("pg_checksums"), "--enable", "--no-sync", "-D",
            "\(cluster.folder)/data",
        ]
        try Program((geteuid() == 0 ? ["runuser", "-u", "postgres", "--"] : []) + checksums).run()
        try cluster.start()
        bare = try cluster.makeDatabase(migrated: false)
        try bare.asSuperuser("create table bare (payload bytea)")
    }

    /// An empty log in a database of its own, with the read models that Urd has.
    func makeStore() throws -> Store {
        let database = try cluster.makeDatabase()
        _ = try ProjectionEngine(database.owner).migrate()
        return try Store(database)
    }

    /// The same with a log of some length, and every read model at its end.
    func makeStore(events: Int, _ progress: Progress) async throws -> Store {
        let store = try Store(cluster.makeDatabase())
        try await LogFiller(store: store).fill(events) {
            progress.show("\($0) of \(events) events filled")
        }
        progress.show("building read models")
        let owner = store.database.owner
        _ = try await DedicatedThread.run { try ProjectionEngine(owner).migrate() }
        try settle()
        return store
    }

    /// What a burst left behind is not the next one's burden.
    func settle() throws {
        try bare.asSuperuser("checkpoint")
    }

    static func binary(_ name: String) throws -> String {
        for version in (9...30).reversed() {
            let path = "/usr/lib/postgresql/\(version)/bin/\(name)"
            if access(path, X_OK) == 0 { return path }
        }
        return name
    }
}

/// A log with all that stands around it in one process.
struct Store: Sendable {
    let database: TestDatabase
    let pool: Database
    let keyring: Keyring
    let log: PostgresLog
    let hub = CommitHub()
    let master: [UInt8]
    let realm: RealmID

    init(_ database: TestDatabase) throws {
        self.database = database
        var random = SystemRandomNumberGenerator()
        master = (0..<MasterKey.length).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
        guard let key = MasterKey(master), let realm = RealmID("bench") else {
            throw BenchmarkFailure("A key of the right length is a key.")
        }
        self.realm = realm
        pool = Database(database.application)
        keyring = Keyring(pool, master: key)
        log = PostgresLog(pool, keyring: keyring, hub: hub)
    }

    func close() {
        log.close()
        pool.close()
    }
}
