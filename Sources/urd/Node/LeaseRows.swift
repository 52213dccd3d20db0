import Postgres
import Values

/// The statements over `urd.lease`.
enum LeaseRows {
    static func read(
        _ names: [String], _ database: Database
    ) async throws -> [String: LeaseWatch.Row] {
        try await database.run { connection throws(Postgres.Failure) in
            var array = ArrayParameter(of: .text)
            for name in names { array.append(name) }
            var parameters = Parameters()
            parameters.add(array)
            var rows = try connection.execute(reading, parameters)
            if rows.count < names.count {
                try connection.execute(beginning, parameters)
                rows = try connection.execute(reading, parameters)
            }
            return Dictionary(
                (0..<rows.count).map { row in
                    (
                        rows.text(row, 0),
                        LeaseWatch.Row(
                            holder: rows.isNull(row, 1) ? nil : node(rows.uuid(row, 1)),
                            renewals: rows.int64(row, 2), hasLostSession: rows.bool(row, 3))
                    )
                }, uniquingKeysWith: { $1 })
        }
    }

    private static func node(_ id: (high: UInt64, low: UInt64)) -> UUID {
        UUID(high: id.high, low: id.low)
    }

    /// Writes over the rows as they were read. One where another was faster stays as it is, and one that is locked,
    /// which is not waited for: it would keep the other leases from being renewed.
    /// - Returns: the leases that were written.
    static func write(
        _ due: [(name: String, renewals: Int64)], _ node: UUID, isTaking: Bool,
        _ database: Database
    ) async throws -> [String] {
        try await database.run { connection throws(Postgres.Failure) in
            var names = ArrayParameter(of: .text)
            var renewals = ArrayParameter(of: .int8)
            for one in due {
                names.append(one.name)
                renewals.append(one.renewals)
            }
            var parameters = Parameters()
            parameters.add(names)
            parameters.add(uuid: (node.high, node.low))
            parameters.add(renewals)
            func write(_ connection: Connection) throws(Postgres.Failure) -> [String] {
                let rows = try connection.execute(writing, parameters)
                return (0..<rows.count).map { rows.text($0, 0) }
            }
            guard isTaking else { return try write(connection) }
            // Two nodes would hold it if the database forgot this one.
            return try connection.transaction("begin; set local synchronous_commit = local") {
                connection throws(Postgres.Failure) in
                try write(connection)
            }
        }
    }

    static func release(_ node: UUID, _ database: Database) async throws {
        try await database.run { connection throws(Postgres.Failure) in
            var parameters = Parameters()
            parameters.add(uuid: (node.high, node.low))
            try connection.execute(releasing, parameters)
        }
    }
}

private let reading = Statement(
    "leases",
    """
    select l.name, l.holder, l.renewals,
        coalesce(l.server_started = pg_postmaster_start_time(), false) and not exists (
            select from pg_stat_activity a where a.pid = l.process
                and coalesce(a.backend_start = l.process_started, true))
    from urd.lease l where l.name = any ($1)
    """)
private let beginning = Statement(
    "leases_begin",
    """
    insert into urd.lease (name) select w.name from unnest($1) as w (name)
    on conflict (name) do nothing
    """)
private let writing = Statement(
    "leases_write",
    """
    update urd.lease set holder = $2, renewals = renewals + 1, process = pg_backend_pid(),
        process_started = (
            select a.backend_start from pg_stat_activity a where a.pid = pg_backend_pid()),
        server_started = pg_postmaster_start_time(), renewed_at = clock_timestamp()
    where name in (
        select l.name from unnest($1, $3) as w (name, renewals)
        join urd.lease l on l.name = w.name and l.renewals = w.renewals
        for update of l skip locked)
    returning name
    """)
private let releasing = Statement(
    "lease_release",
    "update urd.lease set holder = null, renewals = renewals + 1 where holder = $1")
