import Postgres
import Threads

/// Who holds the lock that the switch to a build waits for.
public struct LockHolder: Sendable, Equatable {
    /// 0: a prepared transaction, which has no process.
    public let process: Int
    public let user: String
    public let application: String

    public init(process: Int, user: String, application: String) {
        self.process = process
        self.user = user
        self.application = application
    }
}

/// Does in one short transaction what needs a lock that every reader holds until its own transaction
/// ends, as a dump is one for its whole run: waits for them without end, and says who they are.
/// A reader that comes meanwhile is hardly delayed.
struct ReaderWait {
    /// How long one attempt waits for the lock, and how long the next one is put off, at most.
    struct Pace: Sendable {
        var lock = 250
        var pause = 1000
    }

    /// Faults of the world that are no readers: more of them than this, and it is given up.
    private static var faults: Int { 100 }

    /// The relations that the switch exchanges.
    let relations: [String]
    let pace: Pace
    let connection: Connection
    let report: ProjectionEngine.Report

    /// - Parameter prepare: before each attempt, so that the build is at the log when its time comes.
    func run(
        prepare: () throws -> Void = {},
        switching: (Connection) throws(Postgres.Failure) -> Void
    ) throws {
        var attempt = 0
        var faults = 0
        while true {
            try prepare()
            let patience = min(50 + attempt * 20, pace.lock)
            do throws(Postgres.Failure) {
                try connection.transaction(
                    "begin; set local synchronous_commit = on; "
                        + "set local lock_timeout = '\(patience)ms'", switching)
                return
            } catch {
                guard error.isTransient, connection.isAlive else { throw error }
                if error.code == "55P03" {
                    report(.waiting(for: try holders()))
                } else {
                    faults += 1
                    guard faults < Self.faults else { throw error }
                }
            }
            attempt += 1
            DedicatedThread.sleep(milliseconds: min(10 * attempt, pace.pause))
        }
    }

    private func holders() throws(Postgres.Failure) -> [LockHolder] {
        var parameters = Parameters()
        parameters.add("{\(relations.joined(separator: ","))}")
        let rows = try connection.executeOnce(
            """
            select distinct coalesce(l.pid, 0), coalesce(a.usename::text, ''),
                coalesce(a.application_name, '')
            from pg_locks l left join pg_stat_activity a on a.pid = l.pid
            where l.locktype = 'relation' and l.granted and l.pid is distinct from pg_backend_pid()
                and l.database = (select oid from pg_database where datname = current_database())
                and l.relation in (select to_regclass(r) from unnest($1::text[]) r)
            order by 1
            """, parameters)
        return (0..<rows.count).map {
            LockHolder(
                process: Int(rows.int32($0, 0)), user: rows.text($0, 1),
                application: rows.text($0, 2))
        }
    }
}
