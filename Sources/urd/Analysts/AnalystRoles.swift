import Postgres
import Values

/// The database roles of analysts: each reads the views of one realm (Schema/analysts.sql). They belong to the
/// PostgreSQL cluster and not to the log, so that PostgreSQL itself keeps their passwords and their limits.
struct AnalystRoles {
    struct Analyst {
        let name: String
        let realm: String
        let addedAt: Timestamp
    }

    private let connection: Connection

    init(owner address: String) throws(Postgres.Failure) {
        connection = try Connection(address, application: "urd analyst")
    }

    /// Letters, digits and `_`: a name that needs no quotes anywhere. PostgreSQL keeps `pg_` for itself, and Urd `urd`.
    static func isName(_ name: String) -> Bool {
        let bytes = name.utf8
        return (1...63).contains(bytes.count)
            && bytes.first.map { (0x61...0x7A).contains($0) } == true
            && bytes.allSatisfy {
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
            }
            && !name.hasPrefix("pg_") && name != "urd" && !name.hasPrefix("urd_")
            && !["postgres", "public", "none"].contains(name)
    }

    func realms() throws(Postgres.Failure) -> [String] {
        try texts("select realm from urd.realm_log where position > 0 order by 1")
    }

    func all() throws(Postgres.Failure) -> [Analyst] {
        let rows = try connection.executeOnce(
            "select role::text, realm, added_at from urd.analyst order by 1", Parameters())
        return (0..<rows.count).map { row in
            Analyst(
                name: rows.text(row, 0), realm: rows.text(row, 1),
                addedAt: Timestamp(microseconds: rows.time(row, 2)))
        }
    }

    /// Where the tools of an analyst connect.
    func address(of name: String, password: String) -> String {
        connection.address(user: name, password: password)
    }

    /// False where the cluster has a role of that name, which may belong to another database.
    func add(_ name: String, realm: String, password: String) throws(Postgres.Failure) -> Bool {
        // What is sent is what PostgreSQL keeps: its logs do not see the password.
        let verifier = try connection.verifier(ofPassword: password, of: name)
        return try connection.transaction { connection throws(Postgres.Failure) in
            var parameters = Parameters()
            parameters.add(name)
            guard
                try connection.executeOnce(
                    "select from pg_roles where rolname = $1", parameters
                ).count == 0
            else { return false }
            parameters.add(verifier)
            try run(
                """
                select format('create role %I login password %L connection limit 4 in role urd_analyst',
                    $1::text, $2::text)
                """, parameters)
            for limit in Self.limits {
                var parameters = Parameters()
                parameters.add(name)
                parameters.add(limit.name)
                parameters.add(limit.value)
                try run(
                    "select format('alter role %I set %I = %L', $1::text, $2::text, $3::text)",
                    parameters)
            }
            var seat = Parameters()
            seat.add(name)
            seat.add(realm)
            // A restored database may name a role that its server does not have.
            try connection.executeOnce(
                """
                insert into urd.analyst (role, realm) values ($1::text::name, $2)
                on conflict (role) do update set realm = excluded.realm, added_at = now()
                """, seat)
            return true
        }
    }

    /// Takes an analyst's realm, then its login and password, then its sessions, each in a transaction of its own: what
    /// the role owns elsewhere keeps none of them. False where there is no such analyst.
    func disable(_ name: String) throws(Postgres.Failure) -> Bool {
        var parameters = Parameters()
        parameters.add(name)
        let seats = try connection.executeOnce(
            "delete from urd.analyst where role = $1::text::name returning role", parameters)
        // One that could not be dropped has no seat any more.
        let left = try connection.executeOnce(
            """
            select from pg_roles r where r.rolname = $1::text and not r.rolcanlogin
                and pg_has_role(r.oid, 'urd_analyst', 'member')
            """, parameters)
        guard seats.count + left.count > 0 else { return false }
        // Of a restored database, which had its roles on another server.
        guard try exists(name) else { return true }
        // Of a role that this one made it may end connections (membership), others it cannot see.
        try run("select format('grant %I to current_user', $1::text)", parameters)
        try connection.run("set lock_timeout = '1s'")
        // A session that is changing the role holds it until it is ended, and another may be faster than this one.
        for attempt in 1...20 {
            try endSessions(of: parameters)
            do throws(Postgres.Failure) {
                try run(
                    "select format('alter role %I nologin password null', $1::text)", parameters)
                break
            } catch {
                guard attempt < 20, connection.isAlive else { throw error }
            }
        }
        try endSessions(of: parameters)
        return true
    }

    /// Drops the role of an analyst that is disabled.
    func drop(_ name: String) throws(Postgres.Failure) {
        guard try exists(name) else { return }
        var parameters = Parameters()
        parameters.add(name)
        try connection.transaction { connection throws(Postgres.Failure) in
            // What it was given, and what it could make before it was fenced in.
            try run("select format('drop owned by %I', $1::text)", parameters)
            try run("select format('drop role %I', $1::text)", parameters)
        }
    }

    /// The databases in which a role has something, each with how many things.
    func belongings(of name: String) throws(Postgres.Failure) -> [String] {
        var parameters = Parameters()
        parameters.add(name)
        let rows = try connection.executeOnce(
            """
            select format('%s (%s)', coalesce(d.datname, 'the server'), count(*))
            from pg_shdepend s join pg_roles r on r.oid = s.refobjid left join pg_database d on d.oid = s.dbid
            where s.refclassid = 'pg_authid'::regclass and r.rolname = $1::text
            group by d.datname order by 1
            """, parameters)
        return (0..<rows.count).map { rows.text($0, 0) }
    }

    /// What is open to analysts on this server. Nil where the rights of analysts cannot be seen.
    func gaps() throws(Postgres.Failure) -> AnalystFences.Gaps? {
        let rows = try connection.executeOnce(AnalystFences.question, Parameters())
        return AnalystFences.Gaps((0..<rows.width).map { rows.text(0, $0) })
    }

    private func exists(_ name: String) throws(Postgres.Failure) -> Bool {
        var parameters = Parameters()
        parameters.add(name)
        return try !connection.executeOnce(
            "select from pg_roles where rolname = $1::text", parameters
        ).isEmpty
    }

    private func endSessions(of name: Parameters) throws(Postgres.Failure) {
        try connection.executeOnce(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = $1::text::name",
            name)
    }

    private static let limits = [
        (name: "statement_timeout", value: "30s"),
        (name: "idle_in_transaction_session_timeout", value: "60s"),
        (name: "default_transaction_read_only", value: "on"),
        (name: "search_path", value: "analyst"),
    ]

    /// Runs the statement that this one writes: PostgreSQL quotes names best itself.
    private func run(_ writing: String, _ parameters: Parameters) throws(Postgres.Failure) {
        try connection.run(connection.executeOnce(writing, parameters).text(0, 0))
    }

    private func texts(_ sql: String) throws(Postgres.Failure) -> [String] {
        let rows = try connection.executeOnce(sql, Parameters())
        return (0..<rows.count).map { rows.text($0, 0) }
    }
}
