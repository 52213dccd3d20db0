internal import CPostgres
internal import Synchronization

/// Which history a server is in. A promotion and a recovery to a point in time begin another timeline,
/// with a larger number; `initdb` begins another system.
public struct ServerHistory: Hashable, Sendable {
    public let system: Int64
    public let timeline: Int32

    public init(system: Int64, timeline: Int32) {
        self.system = system
        self.timeline = timeline
    }
}

/// Keeps a process away from servers that were left behind: a primary from before a failover that came
/// back must not be written to, nor read, beside the one that took its place.
///
/// Every connection that does work is had from here. What one of them shows binds all: to a server that
/// is behind the newest one seen no connection is given out any more, and those that there are count
/// for nothing (`isCurrent`). So all connections of a process are at one (system, timeline).
///
/// https://www.postgresql.org/docs/15/continuous-archiving.html#BACKUP-TIMELINES
public final class PrimaryFence: Sendable {
    /// Keeps what was seen for the next start, and gives back what is kept. It may block.
    public typealias Record = @Sendable ([ServerHistory]) -> [ServerHistory]

    fileprivate struct State {
        /// Each system at its latest timeline, in the order in which they were met: the last one is
        /// where the log is.
        var seen: [ServerHistory]
        var isSurveyed = false
    }

    private let state: Mutex<State>
    /// Held while one thread asks every server of an address, or keeps what it saw.
    private let turn = Mutex<Void>(())
    private let record: Record

    /// - Parameter record: called with what is known, before a server that is new is used.
    public init(record: @escaping Record = { $0 }) {
        state = Mutex(State(seen: record([])))
        self.record = record
    }

    /// Where the log is, as far as this process has seen.
    public var current: ServerHistory? { state.withLock { $0.seen.last } }

    /// False once another connection has shown a server that was promoted later.
    public func isCurrent(_ connection: Connection) -> Bool {
        guard let history = connection.history else { return true }
        return state.withLock { $0.seen.last == history }
    }

    /// A connection to the server that takes writes and was not left behind. Blocks.
    ///
    /// Of several servers in an address libpq takes the first one that takes writes, which may be an old
    /// primary: then the others are asked one by one.
    public func connect(
        _ address: String, application: String = "urd"
    ) throws(Failure) -> Connection {
        let places = ServerPlace.all(in: address)
        if places.count > 1 { survey(address, places) }
        do throws(Failure) {
            return try admit(Connection(address, application: application))
        } catch {
            guard error.refusal != nil, places.count > 1 else { throw error }
            for place in places {
                if let found = try? admit(
                    Connection(address, application: application, only: place))
                {
                    return found
                }
            }
            throw error
        }
    }

    private func admit(_ connection: Connection) throws(Failure) -> Connection {
        let history = try connection.readHistory()
        let (isNew, refusal) = state.withLock { state in state.note(history) }
        if let refusal { throw .refused(refusal) }
        if isNew { turn.withLock { _ in keep() } }
        connection.history = history
        return connection
    }

    /// Other processes may have stored a later timeline by now.
    private func keep() {
        let kept = record(state.withLock { $0.seen })
        state.withLock { state in for one in kept { _ = state.note(one) } }
    }

    /// A process asks every server of the address once, at its start, standbys too: one of them may have
    /// been promoted, or follow one that was, while this process did not run. What was kept of its last
    /// run may be older than that server's timeline.
    private func survey(_ address: String, _ places: [ServerPlace]) {
        turn.withLock { _ in
            guard state.withLock({ !$0.isSurveyed }) else { return }
            let found = places.compactMap { place in
                try? Connection(
                    address, application: "urd survey", readOnly: true, only: place, patience: 2
                ).readHistory()
            }
            state.withLock { state in
                state.isSurveyed = true
                // Of one system only: which of two is meant, the address says by its order.
                guard let first = found.first else { return }
                let latest = found.filter { $0.system == first.system }.map(\.timeline).max()
                if let latest {
                    _ = state.note(ServerHistory(system: first.system, timeline: latest))
                }
            }
            keep()
        }
    }
}

extension PrimaryFence.State {
    /// Whether this is news, or why such a server is not to be used.
    fileprivate mutating func note(
        _ history: ServerHistory
    ) -> (isNew: Bool, refusal: String?) {
        guard let index = seen.firstIndex(where: { $0.system == history.system }) else {
            seen.append(history)
            return (true, nil)
        }
        let known = seen[index]
        if history.timeline < known.timeline {
            return (
                false,
                "the server is at timeline \(history.timeline), and was left behind by a failover to "
                    + "timeline \(known.timeline)"
            )
        }
        guard index == seen.count - 1 else {
            return (
                false, "the server is of system \(history.system), which was left for another one"
            )
        }
        seen[index] = history
        return (history != known, nil)
    }
}

/// One of the servers that an address names.
struct ServerPlace: Equatable, Sendable {
    var host: String?
    var hostaddr: String?
    var port: String?

    /// In the order of the address. Those that it leaves to be guessed are left out.
    static func all(in address: String) -> [ServerPlace] {
        guard let first = unsafe PQconninfoParse(address, nil) else { return [] }
        defer { unsafe PQconninfoFree(first) }
        var lists: [String: [String]] = [:]
        var option = unsafe first
        while let keyword = unsafe option.pointee.keyword {
            let name = unsafe String(cString: keyword)
            if ["host", "hostaddr", "port"].contains(name), let value = unsafe option.pointee.val {
                let text = unsafe String(cString: value)
                lists[name] = text.split(separator: ",", omittingEmptySubsequences: false)
                    .map(String.init)
            }
            unsafe option = unsafe option.advanced(by: 1)
        }
        let count = max(lists["host"]?.count ?? 0, lists["hostaddr"]?.count ?? 0)
        return (0..<count).compactMap { index in
            let host = element(lists["host"], index)
            let hostaddr = element(lists["hostaddr"], index)
            guard host != nil || hostaddr != nil else { return nil }
            let ports = lists["port"] ?? []
            // One port may stand for all; one that is left out is the usual one.
            let port = ports.count == 1 ? ports[0] : element(ports, index)
            return ServerPlace(
                host: host, hostaddr: hostaddr, port: port ?? (ports.isEmpty ? nil : "5432"))
        }
    }

    private static func element(_ list: [String]?, _ index: Int) -> String? {
        guard let list, list.indices.contains(index), !list[index].isEmpty else { return nil }
        return list[index]
    }
}

extension Connection {
    /// On a primary, where it writes; on a standby, the latest timeline that it has replayed of.
    func readHistory() throws(Failure) -> ServerHistory {
        let rows = try run(
            """
            select (select system_identifier from pg_control_system())::text,
                case when pg_is_in_recovery() then greatest(
                    (select timeline_id from pg_control_checkpoint()),
                    (select min_recovery_end_timeline from pg_control_recovery()))
                else ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))
                    ::bit(32)::integer end::text
            """)
        guard let system = Int64(rows.text(0, 0)), let timeline = Int32(rows.text(0, 1)) else {
            throw .connection("the server does not tell its history")
        }
        return ServerHistory(system: system, timeline: timeline)
    }
}
