-- The log of every realm. It is the state: all else can be rebuilt from it.
-- Positions are handed out under the lock of the realm's head row, which is updated last, so the
-- order of positions is the order of commits and no reader ever sees a gap.

create schema if not exists urd;

do $$
begin
    if not exists (select from pg_roles where rolname = 'urd_app') then
        create role urd_app login;
    end if;
    if not exists (select from pg_roles where rolname = 'urd_observer') then
        create role urd_observer login;
    end if;
end $$;

-- The head of each realm. Small and hot: room on the page keeps its updates off the index.
create table urd.realm_log (
    realm text collate "C" primary key,
    epoch integer not null default 1,
    position bigint not null default 0,
    -- The builds of read models that append applies, as `projection_build`: what append needs to know
    -- of them comes with the lock that it takes anyway.
    attached text[] not null default '{}'
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
);

-- Who holds a thing that may exist only once.
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

create function urd.refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'the log is append-only: % on % is refused', tg_op, tg_table_name
        using errcode = 'UR002';
end $$;

create trigger event_is_append_only before update or delete or truncate on urd.event
    for each statement execute function urd.refuse_change();

grant usage on schema urd to urd_app, urd_observer;
grant select on urd.migration to urd_app;
grant select on urd.realm_log, urd.stream, urd.event, urd.claim, urd.command to urd_app;
grant select on urd.realm_log, urd.stream, urd.event to urd_observer;
