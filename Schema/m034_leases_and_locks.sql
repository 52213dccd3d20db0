-- Leases and locks as rows, which only the application's role and the owner can take. Any role of the database may
-- take advisory locks, an analyst's too, and could so stop what hung on one (decision 0155).

-- What one node at a time does: mails, notices, webhooks. The holder renews its row. Another node takes it where it
-- has not seen the row change for a term, by the node's own clock, or where the holder's session is gone from a
-- server that still is the same one.
create table urd.lease (
    name text collate "C" primary key,
    -- The node. Null: it let go.
    holder uuid,
    -- Counts each change, so that a take-over meets exactly the row that was seen.
    renewals bigint not null default 0,
    process integer,
    process_started timestamptz,
    server_started timestamptz,
    -- For operators. No node decides by it: the database's clock may be set.
    renewed_at timestamptz not null default clock_timestamp()
) with (
    fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
);
grant select, insert, update on urd.lease to urd_app;
grant select on urd.lease to urd_observer;

-- How far each realm is sealed, and the row that a node locks while it seals the realm.
create table urd.seal (
    realm text collate "C" primary key,
    size bigint not null default 0
) with (fillfactor = 50);
insert into urd.seal (realm, size)
    select h.realm, coalesce((select max(c.size) from urd.checkpoint c where c.realm = h.realm), 0)
    from urd.realm_log h;
grant select, insert, update on urd.seal to urd_app;
grant select on urd.seal to urd_observer;

-- Rows to lock until a transaction ends.
create table urd.lock_row (name text collate "C" primary key);
insert into urd.lock_row values ('bind_builds'), ('sweep_as_of');
grant select, insert, update on urd.lock_row to urd_app;

-- Locks of the owner's that hold for as long as a session lasts, over many transactions.
create table urd.session_lock (
    name text collate "C" primary key,
    process integer not null,
    process_started timestamptz not null
);

-- False while another session has it. A session that is gone has nothing any more.
create function urd.take_session_lock(p_name text) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
begin
    insert into urd.session_lock (name, process, process_started)
        select p_name, a.pid, a.backend_start from pg_stat_activity a where a.pid = pg_backend_pid()
        on conflict (name) do update
            set process = excluded.process, process_started = excluded.process_started
            where not exists (
                select from pg_stat_activity a where a.pid = session_lock.process
                    -- It is not shown of another role's session.
                    and coalesce(a.backend_start = session_lock.process_started, true));
    return found;
end $$;
revoke all on function urd.take_session_lock from public;

-- As m004 has it, but for its lock.
create or replace function urd.bind_builds() returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
    v_lines text;
    v_known text;
begin
    perform from urd.lock_row l where l.name = 'bind_builds' for update;
    select string_agg(format(
            E'    if %s%L = any (p_attached) then\n        '
                'perform urd.%I(p_realm, p_first, p_last, p_types);\n    end if;\n',
            case when b.types is not null then format('p_types && %L and ', b.types) end,
            b.projection || '_' || b.build, b.projection || '_' || b.build || '_apply'), ''
            order by b.projection, b.build),
        array_agg(b.projection || '_' || b.build order by b.projection, b.build)::text
        into v_lines, v_known
        from urd.projection_build b where b.inline;
    execute format($body$
create or replace function urd.apply_attached(
    p_realm text, p_first bigint, p_last bigint, p_types text[], p_attached text[]) returns void
language plpgsql volatile as $function$
declare
    v_build text;
begin
    if p_first = 1 then
        p_attached := urd.enroll_realm(p_realm);
    end if;
%s
    if not p_attached <@ %2$L then
        foreach v_build in array p_attached loop
            if v_build <> all (%2$L::text[]) then
                execute format('select urd.%%I($1, $2, $3, $4)', v_build || '_apply')
                    using p_realm, p_first, p_last, p_types;
            end if;
        end loop;
    end if;
end $function$ $body$, coalesce(v_lines, ''), coalesce(v_known, '{}'));
end $$;

-- As m027 has it, but for its lock.
create or replace function urd.sweep_as_of() returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
declare
    v_schema text;
    v_dropped integer := 0;
begin
    perform from urd.lock_row l where l.name = 'sweep_as_of' for update skip locked;
    if not found then
        return 0;
    end if;
    update urd.as_of_build b set state = 'expired'
        where b.state = 'ready' and b.finished_at < now() - interval '1 hour';
    for v_schema in
        select n.nspname from pg_namespace n
        where n.nspname ~ '^analyst_at_[0-9a-f]{32}$' and not exists (
            select from urd.as_of_build b
            where b.id = right(n.nspname, 32)::uuid and b.state in ('waiting', 'running', 'ready'))
    loop
        begin
            perform set_config('lock_timeout', '250ms', true);
            execute format('drop schema %I cascade', v_schema);
            delete from urd.as_of_part p where p.id = right(v_schema, 32)::uuid;
            delete from urd.as_of_page g where g.id = right(v_schema, 32)::uuid;
            v_dropped := v_dropped + 1;
        exception when lock_not_available then
            null;
        end;
    end loop;
    -- They are spoken of for a week.
    delete from urd.as_of_build b where b.finished_at < now() - interval '7 days'
        and b.state in ('failed', 'cancelled', 'expired')
        and not exists (select from pg_namespace n where n.nspname = urd.as_of_schema(b.id));
    return v_dropped;
end $$;
