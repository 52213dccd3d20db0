-- How events are applied to read models: by append itself where a build is attached, which costs a command nothing
-- but the calls, and with a net where a build cannot take an event.

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

-- Writes `apply_attached` anew, whenever builds come or go: with a line for each inline build, so
-- that a call keeps its plan and an event costs nothing where no build looks at it. Append calls it
-- under the head lock, which also keeps builds from being attached or detached meanwhile. Builds
-- that a session's text does not have yet are called all the same.
create function urd.bind_builds() returns void
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

revoke all on function urd.advance, urd.bind_builds, urd.apply_attached, urd.apply_inline, urd.attach, urd.detach
    from public;
grant execute on function urd.attach to urd_app;
