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

-- Whether an error is the event's or the definition's fault, and will come again. All else is the
-- world's: connections, deadlocks, resources, locks, shutdowns, the disk. Those are raised, and the
-- caller tries again.
create function urd.is_poison(p_state text) returns boolean
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return left(p_state, 2) not in ('08', '25', '40', '53', '55', '57', '58', 'F0');

-- Applies the positions after `p_after` up to `p_last`. Where that fails the page is halved until
-- the event that cannot be applied is found; all before it stays applied. Never steps over it.
-- `p_types`: there are no events of other types there. Null: it is not known.
create function urd.advance(
    p_realm text, p_projection text, p_build integer, p_after bigint, p_last bigint,
    p_types text[], out o_position bigint, out o_problem text)
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
    v_apply text := format(
        'select urd.%I($1, $2, $3, $4)', p_projection || '_' || p_build || '_apply');
    v_page bigint := p_last - p_after;
    v_to bigint;
    v_constraint text;
    v_column text;
    v_context text;
begin
    o_position := p_after;
    while o_position < p_last loop
        v_to := least(o_position + v_page, p_last);
        begin
            execute v_apply using p_realm, o_position + 1, v_to, p_types;
            o_position := v_to;
        exception when others then
            if not urd.is_poison(sqlstate) then
                raise;
            end if;
            if v_to > o_position + 1 then
                v_page := (v_to - o_position) / 2;
                continue;
            end if;
            -- Messages may quote the event; the names of what it ran into may not.
            get stacked diagnostics v_constraint = constraint_name, v_column = column_name,
                v_context = pg_exception_context;
            o_problem := concat_ws(' ', sqlstate, nullif(v_constraint, ''), nullif(v_column, ''),
                substring(v_context from 'function (urd\.[a-z0-9_]+)\('),
                substring(v_context from 'line [0-9]+ at'));
            return;
        end;
    end loop;
end $$;

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

-- Writes `apply_attached` anew, whenever builds come or go: with a line for each inline build, so
-- that a call keeps its plan and an event costs nothing where nobody looks at it. Append calls it
-- under the head lock, which also keeps builds from being attached or detached meanwhile. Builds
-- that a session's text does not have yet are called all the same.
create function urd.bind_builds() returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
    v_lines text;
    v_known text;
begin
    perform pg_advisory_xact_lock(hashtext('urd.bind_builds'));
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
select urd.bind_builds();

-- The same with a net: a build that cannot apply an event stops there and says so; the log and the
-- other builds go on. Its readers see that it is behind and refuse to answer.
--
-- The planner can't know how short the range is, nor how big a table will be once its plan is used
-- again: it is told to plan once, and to use indexes.
create function urd.apply_inline(
    p_realm text, p_first bigint, p_last bigint, p_types text[], p_attached text[]) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
set max_parallel_workers_per_gather = 0 as $$
declare
    v_at record;
    v_reached record;
begin
    if p_first = 1 then
        p_attached := urd.enroll_realm(p_realm);
    end if;
    -- All goes well, nearly always: then one savepoint is enough for all of them.
    begin
        perform urd.apply_attached(p_realm, p_first, p_last, p_types, p_attached);
        return;
    exception when others then
        if not urd.is_poison(sqlstate) then
            raise;
        end if;
    end;

    for v_at in
        select p.projection, p.build
        from urd.projection_position p
        where p.realm = p_realm and p.attached
        order by p.projection, p.build
    loop
        select * into v_reached
            from urd.advance(
                p_realm, v_at.projection, v_at.build, p_first - 1, p_last, p_types);
        if v_reached.o_problem is not null then
            update urd.projection_position p
                set position = v_reached.o_position, attached = false,
                    halted_at = v_reached.o_position + 1, halted_why = v_reached.o_problem,
                    halted_since = clock_timestamp()
                where p.realm = p_realm and p.projection = v_at.projection
                    and p.build = v_at.build;
        end if;
    end loop;
    perform urd.note_attached(p_realm);
end $$;

-- Hands an inline build that is nearly there over to append: applies what is left, at most
-- `p_most` events, under the head lock. False: it is too far behind, ahead of the log, halted, or in
-- other hands.
create function urd.attach(
    p_realm text, p_projection text, p_build integer, p_most integer) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_head bigint;
    v_at record;
    v_reached record;
begin
    select h.position into v_head from urd.realm_log h where h.realm = p_realm for no key update;
    select p.position, p.attached into v_at
        from urd.projection_position p join urd.projection_build b using (projection, build)
        where p.realm = p_realm and p.projection = p_projection and p.build = p_build and b.inline
        for no key update of p skip locked;
    if v_at.attached then
        return true;
    end if;
    if not found or v_head is null or v_head - v_at.position not between 0 and p_most then
        return false;
    end if;
    select * into v_reached
        from urd.advance(p_realm, p_projection, p_build, v_at.position, v_head, null);
    update urd.projection_position p
        set position = v_reached.o_position,
            attached = v_reached.o_problem is null,
            halted_at = case when v_reached.o_problem is not null
                then v_reached.o_position + 1 end,
            halted_why = v_reached.o_problem,
            halted_since = case when v_reached.o_problem is not null
                then coalesce(p.halted_since, clock_timestamp()) end
        where p.realm = p_realm and p.projection = p_projection and p.build = p_build;
    perform urd.note_attached(p_realm);
    return v_reached.o_problem is null;
end $$;

-- The opposite: append lets go of a build where it is.
create function urd.detach(p_realm text, p_projection text, p_build integer) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
    v_head bigint;
begin
    select h.position into v_head from urd.realm_log h where h.realm = p_realm for no key update;
    update urd.projection_position p set position = v_head, attached = false
        where p.realm = p_realm and p.projection = p_projection and p.build = p_build
            and p.attached;
    perform urd.note_attached(p_realm);
end $$;

-- Sees to it that every build has a row in every realm. A realm's first append does that by
-- itself; this is for builds that came later than their realms.
create function urd.enroll() returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_new integer;
begin
    insert into urd.projection_position (realm, projection, build)
        select h.realm, b.projection, b.build
        from urd.realm_log h cross join urd.projection_build b
        where h.position > 0 and b.status <> 'previous' and not exists (
            select from urd.projection_position p
            where p.realm = h.realm and p.projection = b.projection and p.build = b.build)
        on conflict do nothing;
    get diagnostics v_new = row_count;
    return v_new;
end $$;

revoke all on function urd.advance, urd.note_attached, urd.bind_builds, urd.enroll_realm,
    urd.apply_attached, urd.apply_inline, urd.attach, urd.detach, urd.enroll from public;
grant execute on function urd.attach, urd.enroll to urd_app;
grant select on urd.projection_build, urd.projection_position, urd.projection_progress to urd_app, urd_observer;
