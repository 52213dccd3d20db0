public import Postgres

/// A session that keeps writes out by what it has locked. Seen in the table of locks, without waiting for one: also
/// where no process writes at the moment.
public struct WriteBlock: Sendable, Equatable {
    public enum Place: Sendable, Equatable {
        /// A table that each append writes to: no realm's writes get through.
        case table(String)
        /// The row that says where a realm's log ends: no write to that realm gets through.
        case log(realm: String)
        /// Rows, of this table if that is known, that sessions of the application's role wait for.
        case rows(String?)
    }

    /// Of the server process; 0 is a prepared transaction.
    public let process: Int32
    public let role: String
    /// What the session calls itself.
    public let application: String
    /// Together with the process it names one transaction.
    public let transaction: String
    /// How long the transaction has lasted. Nil: PostgreSQL does not show this role when other roles' transactions began.
    public let age: Double?
    public let place: Place

    public init(
        process: Int32, role: String, application: String, transaction: String, age: Double?,
        place: Place
    ) {
        self.process = process
        self.role = role
        self.application = application
        self.transaction = transaction
        self.age = age
        self.place = place
    }

    /// - Parameter row: of one of the questions.
    public init?(_ row: [String?]) {
        guard row.count == 7, let process = row[0].flatMap({ Int32($0) }), let kind = row[5] else {
            return nil
        }
        let place: Place? =
            switch kind {
            case "table": row[6].map { .table($0) }
            case "log": row[6].map { .log(realm: $0) }
            default: .rows(row[6])
            }
        guard let place else { return nil }
        self.init(
            process: process, role: row[1] ?? "?", application: row[2] ?? "",
            transaction: row[3] ?? "", age: row[4].flatMap { Double($0) }, place: place)
    }

    /// - Parameter ask: answers a question with its rows, all of them text.
    public static func find<Problem: Error>(
        _ ask: (_ question: String) async throws(Problem) -> [[String?]]
    ) async throws(Problem) -> [WriteBlock] {
        let first = merge(try await ask(tables))
        guard mayReadLogs(first) else { return first }
        return merge(try await ask(logs), after: first)
    }

    /// The same over a connection of the application's.
    public static func read(_ connection: Connection) throws(Failure) -> [WriteBlock] {
        let first = merge(try answer(readingTables, connection))
        guard mayReadLogs(first) else { return first }
        return merge(try answer(readingLogs, connection), after: first)
    }

    private static func answer(
        _ statement: Statement, _ connection: Connection
    ) throws(Failure) -> [[String?]] {
        let rows = try connection.execute(statement)
        return (0..<rows.count).map { row in
            (0..<rows.width).map { rows.isNull(row, $0) ? nil : rows.text(row, $0) }
        }
    }

    /// Who locks a table may keep those out who read it.
    private static func mayReadLogs(_ found: [WriteBlock]) -> Bool {
        !found.contains { if case .table = $0.place { true } else { false } }
    }

    /// Each session once: what it locks says more than that others wait for it.
    private static func merge(
        _ rows: [[String?]], after known: [WriteBlock] = []
    ) -> [WriteBlock] {
        let found = rows.compactMap { WriteBlock($0) }
        var all: [WriteBlock] = []
        for block in found.filter(\.isKnownPlace) + known + found.filter({ !$0.isKnownPlace })
        where !all.contains(where: { $0.isOfTransaction(block) }) { all.append(block) }
        return all
    }

    private var isKnownPlace: Bool { if case .rows = place { false } else { true } }

    public func isOfTransaction(_ other: WriteBlock) -> Bool {
        process == other.process && transaction == other.transaction
    }
}

extension WriteBlock {
    /// The columns that each question has, of a session `s` that locks something.
    private static let session = """
        coalesce(s.pid, 0)::text, coalesce(a.usename::text, '?'), coalesce(a.application_name, ''),
            s.transaction, extract(epoch from clock_timestamp() - a.xact_start)::text
        """

    /// Who locks a table that every append writes to, and who is waited for, at the end of the queue. Urd's own sessions wait for each other all the
    /// time, for milliseconds. A lock that is held has no time in PostgreSQL; that of a transaction is shown of the
    /// asking role's own, or to who may read all statistics.
    fileprivate static let tables = """
        with recursive tables as (
            select c.oid, c.relname::text as name
            from pg_class c where c.relnamespace = to_regnamespace('urd')),
        held as (
            select l.pid, l.virtualtransaction as transaction, min(t.name) as name
            from pg_locks l join tables t on t.oid = l.relation
            where l.locktype = 'relation' and l.granted
                and l.database = (select d.oid from pg_database d where d.datname = current_database())
                and case
                    when t.name = 'realm_key' then l.mode = 'AccessExclusiveLock'
                    when t.name in (
                        'realm_log', 'stream', 'claim', 'command', 'event', 'subject_key')
                    then l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock',
                        'AccessExclusiveLock')
                    else false end
            group by 1, 2),
        waiting as materialized (
            select w.pid, (
                select min(t.name) from pg_locks x join tables t on t.oid = x.relation
                where x.pid = w.pid and (not x.granted or x.locktype = 'tuple')) as name
            from pg_locks w join pg_stat_activity a on a.pid = w.pid
            where not w.granted and w.waitstart < clock_timestamp() - interval '1 s'
                and a.datname = current_database() and a.usename = current_user),
        chain (pid, name) as (
            select b.pid, w.name
            from waiting w cross join lateral unnest(pg_blocking_pids(w.pid)) b (pid)
            union
            select b.pid, c.name
            from chain c cross join lateral unnest(pg_blocking_pids(c.pid)) b (pid)),
        waited as (
            select c.pid, min(c.name) as name from chain c
            where not exists (select from pg_locks x where x.pid = c.pid and not x.granted)
            group by 1)
        select \(session), s.kind, s.name
        from (
            select h.pid, h.transaction, 'table' as kind, h.name from held h
            union all
            select w.pid, coalesce((select min(x.virtualtransaction) from pg_locks x
                where x.pid = w.pid), ''), 'rows', w.name from waited w) s
        left join pg_stat_activity a on a.pid = s.pid
        order by s.kind desc, s.pid
        """

    /// Whose transaction has locked the end of a realm's log. It writes itself into the row, and not into the table of locks.
    fileprivate static let logs = """
        select \(session), 'log', s.realm
        from (
            select l.pid, l.virtualtransaction as transaction, h.realm
            from urd.realm_log h
            join pg_locks l on l.locktype = 'transactionid' and l.granted and l.transactionid = h.xmax) s
        left join pg_stat_activity a on a.pid = s.pid
        order by s.realm
        """
}

private let readingTables = Statement("write_blocks", WriteBlock.tables)
private let readingLogs = Statement("write_blocks_of_logs", WriteBlock.logs)
