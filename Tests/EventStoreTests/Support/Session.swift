import EventSourcing
import Postgres
import Values

/// A connection for raw SQL with a thread of its own: a test may hold a transaction open with it,
/// or wait for a lock, and block nobody else.
struct Session: Sendable {
    private let database: Database
    let address: String
    /// The server process behind it.
    let process: Int32

    init(_ address: String) async throws {
        self.address = address
        database = Database(address, connections: 1, application: "test")
        process = try await database.run { connection throws(Failure) in
            try connection.run("set lock_timeout = '30s'")
            return connection.serverProcess
        }
    }

    func run(_ sql: String) async throws {
        _ = try await database.run { connection throws(Failure) in
            _ = try connection.run(sql)
        }
    }

    func rows<Value: Sendable>(
        _ sql: String, _ read: @escaping @Sendable (Rows, Int) -> Value
    ) async throws -> [Value] {
        try await database.run { connection throws(Failure) in
            let rows = try connection.executeOnce(sql, Parameters())
            return (0..<rows.count).map { read(rows, $0) }
        }
    }

    /// The first column of each row, which must be text.
    func texts(_ sql: String) async throws -> [String] {
        try await rows(sql) { $0.text($1, 0) }
    }

    func text(_ sql: String) async throws -> String? { try await texts(sql).first }

    /// The first column of the first row, which must be a bigint.
    func number(_ sql: String) async throws -> Int64 {
        try await database.run { connection throws(Failure) in
            try connection.executeOnce(sql, Parameters()).int64(0, 0)
        }
    }

    /// Whether another session waits for a lock.
    func isWaiting(_ other: Session) async throws -> Bool {
        try await number(
            """
            select count(*) from pg_stat_activity
            where pid = \(other.process) and wait_event_type = 'Lock'
            """) > 0
    }

    /// The server processes of this database's committers that wait for a lock.
    func waitingCommitters() async throws -> [Int32] {
        try await rows(
            """
            select pid from pg_stat_activity where datname = current_database()
                and application_name like 'urd committer%' and wait_event_type = 'Lock'
            """
        ) { $0.int32($1, 0) }
    }

    /// Cuts the connections of this database's committers, whatever they do.
    func breakCommitters() async throws {
        _ = try await number(
            """
            select count(pg_terminate_backend(pid)) from pg_stat_activity
            where datname = current_database() and application_name like 'urd committer%'
            """)
    }

    /// Takes the lock that an append to this realm begins with. The realm must have a log.
    func holdHead(of realm: RealmID) async throws {
        try await run(
            "begin; select 1 from urd.realm_log where realm = '\(realm)' for no key update")
    }
}

/// One command through `urd.append`, as any client of the database could send it. Answers the
/// outcome's letter and the position.
func rawAppend(
    to stream: UUID, at version: Int = 0, in realm: RealmID, command: UUID = newID()
) -> String {
    """
    select coalesce(o_outcome[1]::text, 'w') || ' ' || coalesce(o_position[1], o_first)
    from urd.append('\(realm)', 0, '{}',
        array['\(command)']::uuid[], array['\\x']::bytea[], array[now()], array[1], array[0],
        array[1], array['\(stream)']::uuid[], array[\(version)], array[1],
        '{}', '{}', '{}', '{}', '{}',
        array[1], array[0], array['\(stream)']::uuid[], array[\(version + 1)],
        array['thing.done'], array[1]::smallint[], array[now()], array['\(command)']::uuid[],
        array[null]::uuid[], array[sha256('leaf')]::bytea[], array['\\x00']::bytea[],
        array['{"actor":"system"}']::json[], array['{"number":1}']::json[], array[null]::bytea[],
        array[null]::uuid[])
    """
}
