import Postgres
import Threads

/// A primary and its asynchronous standby, for failovers that lose the tail of the log.
///
/// In order: `cutOff`, and what is committed from then on is lost; `failOver`, after which the standby
/// is the primary, on a timeline of its own; `bringBack`, after which the old primary is there again, as
/// it was, and takes writes as if nothing had happened.
public final class StandbyPair: Sendable {
    public let primary: TestCluster
    public let standby: TestCluster

    /// - Parameter settings: of both servers.
    public init(settings: [String] = []) throws {
        primary = try TestCluster(settings: settings)
        standby = try TestCluster(standbyOf: primary, settings: settings)
    }

    /// A new database, whose addresses name both servers, the first primary first.
    public func makeDatabase() throws -> TestDatabase {
        try primary.makeDatabase().at("\(primary.folder),\(standby.folder)")
    }

    /// Lets the standby catch up, and receive nothing more.
    public func cutOff() throws {
        try catchUp()
        let there = try standby.reading()
        try there.run("alter system set primary_conninfo = ''")
        try there.run("select pg_reload_conf()")
        try Self.until("the standby receives nothing more") {
            try there.run("select from pg_stat_wal_receiver").isEmpty
        }
    }

    /// Waits until the standby has replayed all that the primary has written.
    public func catchUp() throws {
        let written = try Connection(primary.address("postgres", "postgres"))
            .run("select pg_current_wal_lsn()::text").text(0, 0)
        let there = try standby.reading()
        try Self.until("the standby catches up") {
            try there.run("select pg_last_wal_replay_lsn() >= '\(written)'::pg_lsn").text(0, 0)
                == "t"
        }
    }

    /// The primary dies at once, and the standby takes its place.
    public func failOver() throws {
        try primary.stop(immediate: true)
        try promote()
    }

    /// The standby takes the place of a primary that may go on by itself.
    public func promote() throws {
        let there = try standby.reading()
        try there.run("select pg_promote()")
        try Self.until("the standby takes writes") {
            try there.run("select pg_is_in_recovery()").text(0, 0) == "f"
        }
    }

    /// The old primary is there again, as it was when it died.
    public func bringBack() throws {
        try primary.start()
    }

    private static func until(_ what: String, _ isSo: () throws -> Bool) throws {
        for _ in 0..<3000 {
            if try isSo() { return }
            DedicatedThread.sleep(milliseconds: 20)
        }
        throw TestCluster.Problem(description: "Did not happen: \(what)")
    }
}
