import Postgres
import Synchronization
import Threads

extension EngineTrial {
    static let trials = [text, functions, sessions, commits, failover, cells, clock, locks, order]

    private static let text = Trial(
        check: "text", mend: "create database … encoding 'UTF8' template template0"
    ) { _, connection in
        let rows = try connection.run(
            "select current_setting('server_encoding'), ('Z' collate \"C\" < 'a' collate \"C\")::text"
        )
        guard rows.text(0, 0) == "UTF8", rows.text(0, 1) == "true" else {
            throw Broken(description: "its encoding is \(rows.text(0, 0))")
        }
        return "UTF-8, compared byte by byte where it must be"
    }

    private static let functions = Trial(
        check: "functions", mend: "Allow PL/pgSQL, and functions with the rights of their owner."
    ) { trial, connection in
        try connection.run(
            """
            create table \(trial.schema).written (number bigint primary key);
            create function \(trial.schema).write(p_number bigint) returns bigint
                language plpgsql security definer set search_path = '' as
                $$ begin
                    insert into \(trial.schema).written values (p_number);
                    return p_number;
                end $$
            """)
        _ = try connection.run("select \(trial.schema).write(1)")
        return "PL/pgSQL, with the rights of its owner"
    }

    /// A pooler that lends a server process for a transaction gives it to another session in between.
    private static let sessions = Trial(
        check: "sessions",
        mend: "Let the address name PostgreSQL itself, or a pooler in session mode: Urd keeps few "
            + "connections, with statements prepared in each."
    ) { trial, first in
        let asking = Statement("engine_trial", "select pg_backend_pid(), $1::text")
        func process(_ connection: Connection) throws(Postgres.Failure) -> Int32 {
            var parameters = Parameters()
            parameters.add(trial.schema)
            return try connection.execute(asking, parameters).int32(0, 0)
        }
        let second = try trial.connect()
        let own = try process(first)
        for _ in 0..<3 {
            _ = try second.run("begin")
            let other = try process(second)
            let again = try process(first)
            _ = try second.run("rollback")
            guard own == again, own != other else {
                throw Broken(description: "two sessions share one server process")
            }
        }
        return "each has a server process and prepared statements of its own"
    }

    private static let commits = Trial(
        check: "commits", mend: "grant execute on function pg_logical_emit_message to the role"
    ) { _, connection in
        _ = try connection.run("select pg_logical_emit_message(true, 'urd', 'trial')::text")
        return "can be tried without writing a row"
    }

    private static let failover = Trial(
        check: "failover",
        mend: "grant execute on function pg_control_system to the role that will own Urd's tables: "
            + "a promoted or restored server is told by it"
    ) { _, connection in
        let rows = try connection.run(
            """
            select (select system_identifier::text from pg_control_system()),
                substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)
            """)
        return "is told by system \(rows.text(0, 0)), timeline \(rows.text(0, 1))"
    }

    private static let cells = Trial(
        check: "cells",
        mend: "Allow a setting urd.cell: a machine in a cell of its own has it in its file."
    ) { _, connection in
        _ = try connection.run("set urd.cell = 'trial'")
        let rows = try connection.run("select current_setting('urd.cell')")
        guard rows.text(0, 0) == "trial" else { throw Broken(description: "urd.cell is not kept") }
        return "a setting urd.cell is kept"
    }

    private static let clock = Trial(
        check: "clock",
        mend: "Let chrony slew the clock of the database's machine, and never step it."
    ) { _, connection in
        let rows = try connection.run(
            """
            select count(*)::text from (
                select t.at, lag(t.at) over (order by t.number) as before
                from (select i as number, clock_timestamp() as at from generate_series(1, 20000) i) t
            ) x where x.at < x.before
            """)
        guard rows.text(0, 0) == "0" else {
            throw Broken(description: "it ran back \(rows.text(0, 0)) times in 20,000 looks")
        }
        return "never ran back in 20,000 looks"
    }

    private static let locks = Trial(
        check: "locks", mend: "grant pg_read_all_stats to the role, or let it see pg_locks."
    ) { trial, connection in
        try connection.run("create table \(trial.schema).locked (number int)")
        let other = try trial.connect()
        try connection.run("begin; lock table \(trial.schema).locked")
        defer { _ = try? connection.run("rollback") }
        let seen = try other.run(
            """
            select count(*)::text from pg_locks l
            where l.relation = '\(trial.schema).locked'::regclass and l.granted
            """)
        guard seen.text(0, 0) != "0" else { throw Broken(description: "they cannot be seen") }
        do throws(Postgres.Failure) {
            try other.run("begin; lock table \(trial.schema).locked nowait")
        } catch {
            guard error.code == "55P03" else { throw error }
            return "exclude others, and can be seen"
        }
        throw Broken(description: "two sessions hold one lock")
    }

    /// A realm's log in small: one row says where it ends, and each append moves it and writes there.
    private static let order = Trial(
        check: "order", mend: "This is not PostgreSQL as Urd knows it: use PostgreSQL 15 or newer."
    ) { trial, connection in
        try connection.run(
            """
            create table \(trial.schema).head (position bigint not null);
            insert into \(trial.schema).head values (0);
            create table \(trial.schema).event (position bigint primary key, writer int not null)
            """)
        let finished = Mutex<[Result<Void, any Error>]>([])
        for writer in 1...writers {
            try DedicatedThread.start {
                let end = Result { try trial.append(as: writer) }
                finished.withLock { $0.append(end) }
            }
        }
        var looks = 0
        while finished.withLock({ $0.count }) < writers {
            let rows = try connection.run(
                """
                select h.position::text, count(e.*)::text, coalesce(max(e.position), 0)::text
                from \(trial.schema).head h left join \(trial.schema).event e on true group by 1
                """)
            guard rows.text(0, 0) == rows.text(0, 1), rows.text(0, 1) == rows.text(0, 2) else {
                throw Broken(
                    description: "a reader saw \(rows.text(0, 1)) events up to \(rows.text(0, 2)), "
                        + "and a head at \(rows.text(0, 0))")
            }
            looks += 1
        }
        for end in finished.withLock({ $0 }) { try end.get() }
        return
            "\(writers * rounds * 4 / 5) appends of \(writers) writers without a gap, in \(looks) looks"
    }

    /// Each fifth append is taken back.
    private func append(as writer: Int) throws {
        let connection = try connect()
        for round in 1...Self.rounds {
            let end = round.isMultiple(of: 5) ? "rollback" : "commit"
            _ = try connection.run(
                """
                begin;
                with moved as (
                    update \(schema).head set position = position + 1 returning position)
                insert into \(schema).event select position, \(writer) from moved;
                \(end)
                """)
        }
    }
}
