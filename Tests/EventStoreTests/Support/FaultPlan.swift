import EventSourcing
import PostgresTesting

/// Triggers that count every row that a realm's flights write, and let one of them fail.
struct FaultPlan {
    enum Way: String, CaseIterable {
        /// The kind of error that a row may be to blame for.
        case refusal = "XX000"
        /// The kind of error that nobody is to blame for.
        case deadlock = "40P01"
        /// The server process ends on the spot.
        case death
    }

    private let session: Session

    /// Installs the triggers in a database of the test's own.
    init(_ database: TestDatabase) async throws {
        session = try await Session(database.superuser)
        try await session.run(
            """
            create schema fault;
            create sequence fault.step;
            create table fault.plan (realm text, step bigint, way text);
            create function fault.count() returns trigger
            language plpgsql security definer as $$
            declare
                v_step bigint;
                v_way text;
            begin
                if coalesce(new.realm, old.realm) = (select p.realm from fault.plan p) then
                    v_step := nextval('fault.step');
                    select p.way into v_way from fault.plan p where p.step = v_step;
                    if v_way = 'death' then
                        perform pg_terminate_backend(pg_backend_pid());
                        perform pg_sleep(10);
                    elsif v_way is not null then
                        raise exception 'step % fails', v_step using errcode = v_way;
                    end if;
                end if;
                return coalesce(new, old);
            end $$;
            """)
        for table in ["realm_log", "command", "stream", "claim", "event"] {
            for time in ["before", "after"] {
                try await session.run(
                    """
                    create trigger fault_\(time) \(time) insert or update or delete on urd.\(table)
                        for each row execute function fault.count()
                    """)
            }
        }
        // These fire when everything else is done and the commit begins.
        for table in ["command", "event"] {
            try await session.run(
                """
                create constraint trigger fault_commit after insert on urd.\(table)
                    deferrable initially deferred for each row execute function fault.count()
                """)
        }
    }

    func arm(_ realm: RealmID, step: Int, _ way: Way) async throws {
        try await session.run(
            """
            select setval('fault.step', 1, false);
            insert into fault.plan values ('\(realm)', \(step), '\(way.rawValue)')
            """)
    }

    /// Answers whether the step was reached.
    func disarm(step: Int) async throws -> Bool {
        try await session.run("delete from fault.plan")
        return try await session.number(
            "select case when is_called then last_value else 0 end from fault.step") >= step
    }
}
