import API
import EventSourcing
import EventStore
import Identity
import JSON
import Postgres
import ReadModels
import Telemetry
import Values

/// The log and what reads and writes it, put together for one process.
struct Store: Sendable {
    let database: Database
    let leases: Leases
    let keyring: Keyring
    let log: PostgresLog
    let dispatcher: Dispatcher<PostgresLog>
    let feeds: Feeds
    let signalPages: SignalPages
    let metrics: Metrics
    let lines: Log
    /// The database's, by which everything is decided.
    let clock: DatabaseClock
    let time: RealmTime

    /// The settings that it is made from.
    static let settings: [any AnySetting] = [
        Settings.databaseURL, Settings.databaseConnections, Settings.masterKeyFile,
        Settings.checkpointDirectory, Settings.queryQueue, Settings.commandQueue,
    ]

    /// - Parameter isNode: keeps which servers it has met; a command only heeds what a node kept.
    init(
        _ settings: Settings, lines: Log = .silent, lanes: Int = 2, previousKeys: [String] = [],
        isNode: Bool = false
    ) throws {
        let record = settings[Settings.checkpointDirectory].map { ServerRecord(directory: $0) }
        try self.init(
            address: settings.require(Settings.databaseURL),
            masterKeyFile: settings.require(Settings.masterKeyFile),
            connections: settings[Settings.databaseConnections],
            queries: settings[Settings.queryQueue], commands: settings[Settings.commandQueue],
            lanes: lanes, lines: lines, previousKeys: previousKeys,
            fence: record?.fence(isNode: isNode, log: lines) ?? PrimaryFence())
    }

    init(
        address: String, masterKeyFile: String, connections: Int = 2, queries: Int = 1024,
        commands: Int = 4096, lanes: Int = 1, lines: Log = .silent, previousKeys: [String] = [],
        fence: PrimaryFence = PrimaryFence()
    ) throws {
        let master = try Self.readMasterKey(masterKeyFile)
        let previous = try previousKeys.map { path throws(CommandFailure) in
            try Self.readMasterKey(path)
        }
        metrics = Metrics()
        let clock = DatabaseClock()
        self.clock = clock
        self.lines = lines
        let waits = metrics.histogram(
            "urd_pool_wait_seconds", help: "How long queries waited for a connection.",
            buckets: [0.001, 0.01, 0.1, 1, 5])
        database = Database(
            address, connections: connections, limit: queries, fence: fence,
            session: PostgresLog.session, opened: clock.read, waited: { waits.observe($0) })
        leases = Leases(at: address, fence: fence)
        let signIns = metrics.counter(
            "urd_sign_ins_total", help: "Sign-ins that this node put on record.",
            labels: ["outcome", "method"])
        keyring = Keyring(database, master: master, previous: previous, log: lines)
        log = PostgresLog(
            database, keyring: keyring, lanes: lanes, waiting: commands, metrics: metrics,
            log: lines, configures: EventCatalogue.isConfiguration,
            isNews: { RequestedMail.id(by: $0.name, $0.open) != nil },
            appended: { event in
                guard let signIn = CountedSignIn(event) else { return }
                signIns[signIn.isRefused ? "refused" : "signed_in", signIn.method].add()
            })
        dispatcher = Dispatcher(log: log)
        feeds = Feeds(EventRings(log, hub: log.hub), metrics: metrics)
        signalPages = SignalPages(log)
        let start = ContinuousClock.now
        time = RealmTime(
            clock: clock.now, passed: { ContinuousClock.now - start },
            latest: { [times = log.times] in times.of($0) })
    }

    func close() {
        log.close()
        leases.database.close()
        database.close()
    }

    /// Waits until the database answers and says whether its schema is this binary's.
    ///
    /// A server may be started before its database; a person who typed a command wants to hear of
    /// a wrong address.
    func checkSchema(patience: Duration? = .seconds(5)) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var told = false
        while true {
            do {
                let state = try await database.run { connection throws(Postgres.Failure) in
                    Result { try Migrator(connection).state() }
                }.get()
                guard state.isCurrent else {
                    throw CommandFailure(
                        "the database lacks \(state.pending.count) migrations "
                            + "(schema \(state.schema), this binary \(state.binary))",
                        remedy: "Run `urd migrate` first.")
                }
                guard try await keyring.isOfThisDatabase() else {
                    throw CommandFailure(
                        "the keys in this database are wrapped under another master key",
                        remedy: "Let master-key-file name the one that made them; after "
                            + "`urd keys rotate-master`, the new one.")
                }
                return
            } catch LogFailure.unavailable, LogFailure.busy {
                try await Task.sleep(for: .milliseconds(100))
            } catch let failure as Postgres.Failure where failure.isTransient {
                if let patience, clock.now - start > patience {
                    throw CommandFailure(
                        failure, remedy: "`urd doctor` looks at the rest of the installation.")
                }
                if !told {
                    lines.warning(
                        "database.waiting", ["why": .string(CommandFailure(failure).what)])
                }
                told = true
                try await Task.sleep(for: .milliseconds(100))
            } catch let refusal as Migrator.Refusal {
                throw CommandFailure(refusal.description)
            }
        }
    }

    static func readMasterKey(_ path: String) throws(CommandFailure) -> MasterKey {
        do {
            if let key = MasterKey(try MasterKeyFile.read(path)) { return key }
        } catch {
            switch error {
            case .missing:
                throw CommandFailure(
                    "there is no master key at \(path)",
                    remedy: "Put the key there. A new key reads nothing that the old one sealed; "
                        + "only a first installation makes one, as deploy/README.md says.")
            case .unreadable(let why):
                throw CommandFailure("the master key cannot be read: \(why)")
            case .exposed(let mode):
                throw CommandFailure(
                    "others than its owner can read the master key \(path) (mode \(mode))",
                    remedy: "chmod 600 \(path)")
            case .malformed(let count):
                throw CommandFailure(
                    "\(path) is no master key: it has \(count) bytes",
                    remedy: "It must have 32 bytes, or 64 hexadecimal digits.")
            }
        }
        throw CommandFailure("\(path) is no master key")
    }
}
