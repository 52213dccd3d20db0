-- Read models, how far each one is, and the calls that keep them up with the log.
--
-- A projection is a table set and a function that applies a range of positions. Each time it is
-- built it gets a number, and its tables and function carry that number in their names, so that a
-- new build can be filled beside the live one, compared with it and switched to.
--
-- An inline build is applied by append itself while it is attached. A following build, and an
-- inline one that fell behind, is moved by `project`, page by page. Locks are always taken in one
-- order: the realm's head, then the row that says how far a build is.

create table urd.projection_build (
    projection text collate "C" not null,
    build integer not null check (build > 0),
    inline boolean not null,
    -- The event types that it looks at. Null: every one.
    types text[],
    -- SHA-256 of the projection's SQL: another text needs another build.
    definition bytea not null,
    -- Its views as SQL, so that an older build can be switched back to.
    readers text not null,
    -- building: being filled. live: what the views show. previous: kept for rollback.
    status text collate "C" not null check (status in ('building', 'live', 'previous')),
    created_at timestamptz not null default now(),
    primary key (projection, build)
);
create unique index projection_live on urd.projection_build (projection) where status = 'live';

-- How far a build is in a realm. It moves in the transaction that moves its rows. While append
-- applies it, it is where the realm's head is, and nothing has to be written here.
create table urd.projection_position (
    realm text collate "C" not null,
    projection text collate "C" not null,
    build integer not null,
    -- How far, while it is not attached.
    position bigint not null default 0,
    -- Whether append applies it. False while it is behind, and always where it follows. Changed
    -- under the realm's head lock only, and repeated there.
    attached boolean not null default false,
    -- The event that it could not apply and why, without the event's content. Null while it goes on.
    halted_at bigint,
    halted_why text,
    halted_since timestamptz,
    primary key (realm, projection, build),
    foreign key (projection, build) references urd.projection_build on delete cascade,
    check ((halted_at is null) = (halted_why is null) and (halted_at is null) = (halted_since is null)),
    check (halted_at is null or not attached)
) with (
    fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
);
create index projection_position_detached on urd.projection_position (projection, build)
    where not attached;
create index projection_position_halted on urd.projection_position (projection, build)
    where halted_at is not null;

-- The same with the position of each build spelt out.
create view urd.projection_progress as
    select p.realm, p.projection, p.build,
        case when p.attached then h.position else p.position end as position,
        p.attached, p.halted_at, p.halted_why, p.halted_since
    from urd.projection_position p join urd.realm_log h on h.realm = p.realm;

-- Writes down in a realm's head which builds append applies.
create function urd.note_attached(p_realm text) returns text[]
language sql volatile set search_path = pg_catalog, pg_temp as $$
    update urd.realm_log h set attached = array(
        select p.projection || '_' || p.build from urd.projection_position p
        where p.realm = p_realm and p.attached order by 1)
    where h.realm = p_realm
    returning h.attached
$$;

-- A realm's first append: every build has it from the start.
create function urd.enroll_realm(p_realm text) returns text[]
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
begin
    insert into urd.projection_position (realm, projection, build, attached)
        select p_realm, b.projection, b.build, b.inline
        from urd.projection_build b where b.status <> 'previous'
        on conflict do nothing;
    return urd.note_attached(p_realm);
end $$;

-- Sees to it that every build has a row in every realm. A realm's first append does that by
-- itself; this is for builds that came later than their realms, and for rows that got lost.
--
-- A row that says how far a live build is in a realm may get lost while what it speaks of is there. To begin anew at
-- the beginning of the log would apply all events a second time, to rows that have them already: it would halt there, or
-- count double. So a live build that append moves all the while goes on where the log ends; any other is emptied in
-- that realm and filled anew in the same transaction, so that no reader sees a part of it (mails that were sent long ago).
create function urd.enroll() returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
set max_parallel_workers_per_gather = 0 as $$
declare
    v_new integer;
    v_at record;
    v_attached text[];
    v_goes_on boolean;
    v_table regclass;
begin
    insert into urd.projection_position (realm, projection, build)
        select h.realm, b.projection, b.build
        from urd.realm_log h cross join urd.projection_build b
        where h.position > 0 and b.status = 'building' and not exists (
            select from urd.projection_position p
            where p.realm = h.realm and p.projection = b.projection and p.build = b.build)
        on conflict do nothing;
    get diagnostics v_new = row_count;
    for v_at in
        select h.realm, b.projection, b.build, b.inline, b.projection || '_' || b.build as name
        from urd.realm_log h cross join urd.projection_build b
        where h.position > 0 and b.status = 'live' and not exists (
            select from urd.projection_position p
            where p.realm = h.realm and p.projection = b.projection and p.build = b.build)
        order by h.realm, b.projection
    loop
        v_goes_on := false;
        if v_at.inline then
            select h.attached into v_attached from urd.realm_log h
                where h.realm = v_at.realm for no key update;
            v_goes_on := v_at.name = any (v_attached);
        end if;
        insert into urd.projection_position (realm, projection, build, attached)
            values (v_at.realm, v_at.projection, v_at.build, v_goes_on)
            on conflict do nothing;
        continue when not found;
        v_new := v_new + 1;
        continue when v_goes_on;
        for v_table in
            select c.oid from pg_class c
            where c.relnamespace = 'urd'::regnamespace and c.relkind = 'r'
                and c.relname ~ ('^' || v_at.name || '(_[a-z_]+)?$')
        loop
            execute format('delete from %s t where t.realm = $1', v_table) using v_at.realm;
        end loop;
        perform from urd.project(v_at.realm, v_at.projection, v_at.build, 2147483647);
    end loop;
    return v_new;
end $$;

revoke all on function urd.note_attached, urd.enroll_realm, urd.enroll from public;
grant execute on function urd.enroll to urd_app;
grant select on urd.projection_build, urd.projection_position, urd.projection_progress to urd_app, urd_observer;
