import EventSourcing
import EventStore
import JSON
import Postgres
import PostgresTesting
import Telemetry

/// A log in a database of its own.
struct TestStore {
    let database: TestDatabase
    let pool: Database
    let master: MasterKey
    let keyring: Keyring
    let log: PostgresLog
    let metrics = Metrics()

    init(
        _ cluster: TestCluster = .shared, master: MasterKey = .generate(), lanes: Int = 2
    ) throws {
        try self.init(cluster.makeDatabase(), master: master, lanes: lanes)
    }

    /// Another node on the same database.
    init(
        _ database: TestDatabase, master: MasterKey, lanes: Int = 2, waiting: Int = 8192,
        log: Log = .silent, fence: PrimaryFence = PrimaryFence()
    ) throws {
        self.database = database
        self.master = master
        pool = Database(database.application, fence: fence, session: PostgresLog.session)
        keyring = Keyring(pool, master: master)
        self.log = PostgresLog(
            pool, keyring: keyring, lanes: lanes, waiting: waiting, metrics: metrics,
            log: log, isNews: { $0.open["news"] != nil })
    }
}
