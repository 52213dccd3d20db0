import Postgres

/// What PostgreSQL lets every role do, an analyst's too, and a superuser alone takes away: to fill the table of locks that
/// all databases of a server share, and to store.
enum AnalystFences {
    /// Functions that take locks for as long as a session likes, or write.
    private static let functions = """
        p.pronamespace = 'pg_catalog'::regnamespace and (
            p.proname ~ '^pg_.*advisory' or p.proname = any ('{
                lo_creat, lo_create, lo_from_bytea, lo_import, lo_put, lo_unlink, lo_truncate,
                lo_truncate64, lowrite, pg_logical_emit_message}'))
        """

    /// For a superuser, in Urd's database once its schema is there. To run it again changes nothing.
    static let statement = """
        do $$
        declare
            v_name text;
        begin
            for v_name in
                select p.oid::regprocedure from pg_proc p
                where \(functions)
                    and has_function_privilege('public', p.oid, 'execute')
            loop
                -- Urd itself tries by messages whether commits get through.
                if v_name like 'pg_logical%' and to_regrole('urd_app') is not null then
                    execute format('grant execute on function %s to urd_app', v_name);
                end if;
                execute format('revoke execute on function %s from public', v_name);
            end loop;
            for v_name in
                select d.datname from pg_database d where d.datname <> current_database()
                    and d.datname in ('postgres', 'template1')
                    and has_database_privilege('public', d.oid, 'connect')
            loop
                execute format('revoke connect on database %I from public', v_name);
            end loop;
        end $$;
        """

    /// What is open to analysts still.
    struct Gaps: Equatable, Sendable {
        /// How many of the functions.
        let functions: Int
        /// Other databases of the server to which they may connect, if `pg_hba.conf` lets them.
        let databases: String

        init(functions: Int, databases: String) {
            self.functions = functions
            self.databases = databases
        }

        /// Nil where the row is none of `question`'s.
        init?(_ row: [String?]?) {
            guard let row, row.count == 2, let count = row[0].flatMap({ Int($0) }) else {
                return nil
            }
            self.init(functions: count, databases: row[1] ?? "")
        }

        /// The problem, and its remedy.
        var words: (what: String, mend: String)? {
            if functions > 0 {
                return (
                    "an analyst can stop the writes of all realms: \(functions) functions that lock or "
                        + "store are open to every role", AnalystFences.mend
                )
            }
            guard !databases.isEmpty else { return nil }
            return (
                "they may connect to other databases of the server: \(databases)",
                "Keep them out in pg_hba.conf (docs/analysts/sql.md), or, as a superuser: "
                    + "revoke connect on database … from public"
            )
        }
    }

    static let question = """
        select (select count(*)::text from pg_proc p where \(functions)
                and has_function_privilege('urd_analyst', p.oid, 'execute')),
            (select coalesce(string_agg(quote_ident(d.datname), ', ' order by d.datname), '')
                from pg_database d where d.datallowconn and d.datname <> current_database()
                    and has_database_privilege('urd_analyst', d.oid, 'connect'))
        """

    static let mend = "As a superuser, in Urd's database: urd analyst fences | psql -d urd"

    /// Does it where the role may. Where it may not, the doctor says what is left.
    static func close(at address: String) throws {
        let connection = try Connection(address, application: "urd migrate")
        let asked = try connection.executeOnce(
            "select rolsuper from pg_roles where rolname = current_user", Parameters())
        if asked.bool(0, 0) { try connection.run(statement) }
    }
}
