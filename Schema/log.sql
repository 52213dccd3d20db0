-- The log of every realm. It is the state: all else can be rebuilt from it.
-- Positions are handed out under the lock of the realm's head row, which is updated last, so the
-- order of positions is the order of commits and no reader ever sees a gap.

-- The head of each realm. Small and hot: room on the page keeps its updates off the index.
create table urd.realm_log (
    realm text collate "C" primary key,
    epoch integer not null default 1,
    position bigint not null default 0,
    -- The builds of read models that append applies, as `projection_build`: what append needs to know
    -- of them comes with the lock that it takes anyway.
    attached text[] not null default '{}',
    -- Another number tells nodes that the realm's keys in memory are not the database's any more. Every node
    -- reads it ten times a second.
    keys integer not null default 0,
    -- How often a key of a subject was destroyed: what a node keeps of people, sealed, it opens only where
    -- this is what it was when the node read it (decision 0152).
    erasures bigint not null default 0
) with (
    fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
);

create table urd.stream (
    realm text collate "C" not null,
    stream uuid not null,
    version integer not null,
    primary key (realm, stream)
) with (fillfactor = 70);

-- Events are only ever added, and lie on their pages about in the order of their positions. To vacuum the
-- table because it has grown makes the rest of each page known, where small events fit: from then on they
-- would be put there, each on a page of its own that has to be read, and written to the WAL whole (decision
-- 0080). What was rolled back, and ages of transactions, are looked after as anywhere.
create table urd.event (
    position bigint not null,
    at timestamptz not null,
    stream uuid not null,
    command uuid not null,
    subject uuid,
    version integer not null,
    revision smallint not null,
    realm text collate "C" not null,
    type text collate "C" not null,
    -- SHA-256 of the canonical record, as a leaf of the realm's tree.
    leaf bytea not null,
    -- Shows that the application wrote the leaf: without the realm's key it cannot be made.
    mac bytea not null,
    -- Canonical JSON, kept byte for byte.
    meta json not null,
    data json not null,
    -- Personal fields, under the key of the subject.
    sealed bytea,
    primary key (realm, position),
    unique (realm, stream, version)
) with (autovacuum_vacuum_insert_threshold = -1);

-- Which stream holds a thing that may exist only once.
create table urd.claim (
    realm text collate "C" not null,
    kind text collate "C" not null,
    key bytea not null,
    stream uuid not null,
    primary key (realm, kind, key)
);

-- The outcome of each command, so that a repeat gets the first one. Kept for a week.
create table urd.command (
    position bigint not null,
    at timestamptz not null,
    command uuid not null,
    events integer not null,
    realm text collate "C" not null,
    digest bytea not null,
    primary key (realm, command)
);
create index command_at on urd.command using brin (at) with (pages_per_range = 16);

-- After a savepoint, because the tables are made in the same transaction (planner.sql).
savepoint taught;
select urd.teach_planner(t)
    from unnest(array['urd.event', 'urd.stream', 'urd.claim', 'urd.command']::regclass[]) t;
release savepoint taught;

create function urd.refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'the log is append-only: % on % is refused', tg_op, tg_table_name
        using errcode = 'UR002';
end $$;

create trigger event_is_append_only before update or delete or truncate on urd.event
    for each statement execute function urd.refuse_change();

-- The outcomes of one realm's commands older than a week. The block range index on the time keeps
-- this off the young rows.
create function urd.forget_commands(p_realm text) returns bigint
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    with gone as (
        delete from urd.command c
            where c.realm = p_realm and c.at < now() - interval '7 days' returning 1)
    select count(*) from gone;
$$;

-- Claims that are only good for a while, such as that a client's assertion was used, say so in their
-- kind: `until`, the hour since 1970 in ten digits, and what they are. They are found by a range of the
-- primary key, so that the many that hold for ever are never looked at.
create function urd.forget_claims(p_realm text) returns bigint
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    with gone as (
        delete from urd.claim c
            where c.realm = p_realm and c.kind >= 'until '
                and c.kind < 'until ' || lpad(
                    floor(extract(epoch from now()) / 3600)::bigint::text, 10, '0')
            returning 1)
    select count(*) from gone;
$$;

revoke all on function urd.forget_commands, urd.forget_claims from public;
grant execute on function urd.forget_commands, urd.forget_claims to urd_app;
grant select on urd.realm_log, urd.stream, urd.event, urd.claim, urd.command to urd_app;
-- Analysts read views, and not the log: what stands readable in it has digests that never leave (decision
-- 0117).
grant select on urd.realm_log, urd.stream to urd_observer;
