import Postgres

/// The build that readers see.
struct LiveBuild {
    let number: Int
    /// Made from the text that this binary has.
    let isCurrent: Bool

    static func find(
        _ projection: Projection, _ connection: Connection
    ) throws(Postgres.Failure) -> LiveBuild? {
        var parameters = Parameters()
        parameters.add(projection.name)
        parameters.add(projection.definition)
        let rows = try connection.executeOnce(
            """
            select build, definition = sha256(convert_to($2, 'UTF8'))
            from urd.projection_build where projection = $1 and status = 'live'
            """, parameters)
        guard !rows.isEmpty else { return nil }
        return LiveBuild(number: Int(rows.int32(0, 0)), isCurrent: rows.bool(0, 1))
    }
}

/// The table of builds: registration, switch and removal.
enum Builds {
    static func projections(_ connection: Connection) throws(Postgres.Failure) -> [String] {
        let rows = try connection.run("select distinct projection from urd.projection_build")
        return (0..<rows.count).map { rows.text($0, 0) }
    }

    static func number(
        of projection: String, _ status: String, _ connection: Connection
    ) throws(Postgres.Failure) -> Int? {
        var parameters = Parameters()
        parameters.add(projection)
        parameters.add(status)
        let rows = try connection.executeOnce(
            """
            select max(build) from urd.projection_build where projection = $1 and status = $2
            """, parameters)
        return rows.isNull(0, 0) ? nil : Int(rows.int32(0, 0))
    }

    /// Creates the tables and the function of the next build and registers it, so that realms
    /// that are born from now on have it too.
    static func create(
        _ projection: Projection, sharded: Bool, _ connection: Connection
    ) throws(Postgres.Failure) -> Int {
        var parameters = Parameters()
        parameters.add(projection.name)
        // Of a build that is gone there may be tables left that are still read.
        let next = try connection.executeOnce(
            """
            select coalesce(max(build), 0) + 1 from (
                select build from urd.projection_build where projection = $1
                union all
                select substring(c.relname from '^' || $1 || '_([0-9]+)')::integer
                from pg_class c
                where c.relnamespace = 'urd'::regnamespace and c.relkind in ('r', 'p')
                    and c.relname ~ ('^' || $1 || '_[0-9]+(_[a-z_]+)?$')) known
            """, parameters)
        let build = Int(next.int32(0, 0))
        try connection.run(projection.tables(build))
        // In a transaction of its own: one that creates a table and truncates it does so in place,
        // and what the planner then takes it for is not a new table.
        for table in projection.tableNames(build) {
            try connection.run("select urd.teach_planner('urd.\(table)')")
        }
        return try connection.transaction { [parameters] connection throws(Postgres.Failure) in
            var parameters = parameters
            try connection.run(projection.apply(build))
            if sharded { try connection.run(projection.shardedApply(build)) }
            try connection.run(
                "revoke all on function \(signatures(projection, build, sharded)) from public")
            parameters.add(Int32(build))
            parameters.add(projection.kind == .inline)
            parameters.add(projection.types.map { "{\($0.joined(separator: ","))}" })
            parameters.add(projection.definition)
            parameters.add(projection.readers(build))
            try connection.executeOnce(
                """
                insert into urd.projection_build (
                    projection, build, inline, types, definition, readers, status)
                values ($1, $2, $3, $4::text::text[], sha256(convert_to($5, 'UTF8')), $6,
                    'building')
                """, parameters)
            try keepSections(of: projection, build, connection)
            try connection.run("select urd.bind_builds()")
            try connection.run("select urd.enroll()")
            return build
        }
    }

    /// A realm as of a moment is built by nodes, which may create nothing: the database makes it of these.
    private static func keepSections(
        of projection: Projection, _ build: Int, _ connection: Connection
    ) throws(Postgres.Failure) {
        for (name, text) in projection.sectionsAsOf {
            var parameters = Parameters()
            parameters.add(projection.name)
            parameters.add(Int32(build))
            parameters.add(name)
            parameters.add(text)
            try connection.executeOnce(
                """
                insert into urd.projection_text (projection, build, section, text)
                values ($1, $2, $3, $4)
                """, parameters)
        }
    }

    private static func signatures(
        _ projection: Projection, _ build: Int, _ sharded: Bool
    ) -> String {
        let name = projection.applyName(build)
        let usual = "\(name)(text, bigint, bigint, text[])"
        return sharded ? "\(usual), \(name)(text, bigint, bigint, text[], integer, integer)" : usual
    }

    /// Append lets go of a build, realm by realm.
    static func detach(
        _ projection: String, _ build: Int, _ connection: Connection
    ) throws(Postgres.Failure) {
        var parameters = Parameters()
        parameters.add(projection)
        parameters.add(Int32(build))
        let realms = try connection.executeOnce(
            """
            select p.realm from urd.projection_position p
            where p.projection = $1 and p.build = $2 and p.attached
            """, parameters)
        for row in 0..<realms.count {
            var parameters = parameters
            parameters.add(realms.text(row, 0))
            try connection.executeOnce("select urd.detach($3, $1, $2)", parameters)
        }
    }

    /// Drops a build with all that belongs to it.
    static func drop(
        _ projection: String, _ build: Int, _ connection: Connection
    ) throws(Postgres.Failure) {
        var parameters = Parameters()
        parameters.add(projection)
        parameters.add(Int32(build))
        try detach(projection, build, connection)
        try connection.executeOnce(
            "delete from urd.projection_build where projection = $1 and build = $2", parameters)
        try connection.run("select urd.bind_builds()")
        try sweep(projection, connection)
    }

    /// Drops tables and functions of builds that are not registered: however a run ended half-way,
    /// nothing of it stays. A table that is still read, as a dump reads all tables, stays for a later
    /// sweep.
    static func sweep(_ projection: String, _ connection: Connection) throws(Postgres.Failure) {
        for command in try leftOver(projection, connection) {
            do throws(Postgres.Failure) {
                try connection.transaction("begin; set local lock_timeout = '250ms'") {
                    connection throws(Postgres.Failure) in
                    try connection.run(command)
                }
            } catch {
                guard error.code == "55P03" else { throw error }
            }
        }
    }

    private static func leftOver(
        _ projection: String, _ connection: Connection
    ) throws(Postgres.Failure) -> [String] {
        var parameters = Parameters()
        parameters.add(projection)
        let found = try connection.executeOnce(
            """
            select left_over.command
            from (
                select c.relname as name, format('drop table urd.%I cascade', c.relname) as command
                from pg_class c
                where c.relnamespace = 'urd'::regnamespace and c.relkind in ('r', 'p')
                union all
                select p.proname, format('drop function %s', p.oid::regprocedure)
                from pg_proc p where p.pronamespace = 'urd'::regnamespace
            ) left_over
            where left_over.name ~ ('^' || $1 || '_[0-9]+(_[a-z_]+)?$') and not exists (
                select from urd.projection_build b
                where b.projection = $1
                    and left_over.name ~ ('^' || $1 || '_' || b.build || '(_[a-z_]+)?$'))
            """, parameters)
        return (0..<found.count).map { found.text($0, 0) }
    }

    /// Drops all that a projection ever had, at once: once it is not registered, nothing would come
    /// back for what is left of it. Waits for its readers.
    static func forget(
        _ projection: String, _ connection: Connection, _ pace: ReaderWait.Pace,
        _ report: @escaping ProjectionEngine.Report
    ) throws {
        var parameters = Parameters()
        parameters.add(projection)
        let builds = try connection.executeOnce(
            "select build from urd.projection_build where projection = $1", parameters)
        for row in 0..<builds.count {
            try detach(projection, Int(builds.int32(row, 0)), connection)
        }
        let wait = ReaderWait(
            relations: try relations(of: projection, connection), pace: pace,
            connection: connection, report: report)
        try wait.run { connection throws(Postgres.Failure) in
            try connection.executeOnce(
                "delete from urd.projection_build where projection = $1", parameters)
            try connection.run("select urd.bind_builds()")
            try connection.run("drop view if exists urd.\(projection)_position")
            for command in try leftOver(projection, connection) { try connection.run(command) }
        }
    }

    /// The tables of a projection and the views over them.
    private static func relations(
        of projection: String, _ connection: Connection
    ) throws(Postgres.Failure) -> [String] {
        var parameters = Parameters()
        parameters.add(projection)
        let found = try connection.executeOnce(
            """
            select 'urd.' || c.relname from pg_class c
            where c.relnamespace = 'urd'::regnamespace and c.relkind in ('r', 'p', 'v')
                and (c.relname = $1 or c.relname like $1 || '\\_%')
            """, parameters)
        return (0..<found.count).map { found.text($0, 0) }
    }
}
