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

-- Rows to lock until a transaction ends.
create table urd.lock_row (name text collate "C" primary key);
insert into urd.lock_row values ('bind_builds'), ('sweep_as_of');

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
grant select, insert, update on urd.lease, urd.lock_row to urd_app;
grant select on urd.lease to urd_observer;
