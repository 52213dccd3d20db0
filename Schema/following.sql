-- How read models follow the log: each build by itself where it is filled, mended or left behind, and
-- all that are live together otherwise, so that a page is read and counted once.

-- What types of events there are after `p_after` up to `p_last`, which is put back before the first
-- hole. A hole cannot be. Where there is one nonetheless, it is an alarm and never stepped over.
create function urd.survey(
    p_realm text, p_after bigint, inout p_last bigint, out o_types text[], out o_problem text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    v_found bigint;
begin
    select sum(t.events), array_agg(t.type) into v_found, o_types
        from (
            select e.type, count(*) as events from urd.event e
            where e.realm = p_realm and e.position > p_after and e.position <= p_last
            group by e.type) t;
    if coalesce(v_found, 0) < p_last - p_after then
        select min(g.position) - 1, 'the log has a hole' into p_last, o_problem
            from generate_series(p_after + 1, p_last) as g (position)
            where not exists (
                select from urd.event e where e.realm = p_realm and e.position = g.position);
    end if;
end $$;

-- Moves one build over a range that was surveyed, and writes down how far it came.
create function urd.move(
    p_at urd.projection_position, p_last bigint, p_types text[], p_hole text,
    out o_position bigint, out o_problem text)
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
    v_wanted text[];
begin
    select b.types into v_wanted from urd.projection_build b
        where b.projection = p_at.projection and b.build = p_at.build;
    o_position := p_last;
    o_problem := p_hole;
    if v_wanted is null or v_wanted && p_types then
        select a.o_position, coalesce(a.o_problem, p_hole) into o_position, o_problem
            from urd.advance(
                p_at.realm, p_at.projection, p_at.build, p_at.position, p_last, p_types) a;
    end if;
    update urd.projection_position p
        set position = o_position, halted_why = o_problem,
            halted_at = case when o_problem is not null then o_position + 1 end,
            halted_since = case when o_problem is not null
                then coalesce(p_at.halted_since, clock_timestamp()) end
        where p.realm = p_at.realm and p.projection = p_at.projection and p.build = p_at.build;
end $$;

-- Moves one build by one page of a realm, and says how far it is. Nothing is returned where that
-- is not the caller's business: another node is at it, append is, or there is no such build. As in
-- `apply_inline` the planner is told: what it knows of a young table is `teach_planner`'s, which holds
-- for plans that are made for any realm.
create function urd.project(
    p_realm text, p_projection text, p_build integer, p_page integer, p_until bigint default null,
    out o_position bigint, out o_head bigint, out o_halted_at bigint, out o_halted_why text)
returns setof record
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
set max_parallel_workers_per_gather = 0 as $$
declare
    v_at urd.projection_position;
    v_page record;
begin
    select p.* into v_at
        from urd.projection_position p
        where p.realm = p_realm and p.projection = p_projection and p.build = p_build
            and not p.attached
        for no key update skip locked;
    if not found then
        return;
    end if;
    select h.position into o_head from urd.realm_log h where h.realm = p_realm;
    o_head := coalesce(o_head, 0);
    o_position := v_at.position;
    if least(o_head, p_until) > o_position then
        -- What a crash takes away is applied again: no need to wait for the disk.
        perform set_config('synchronous_commit', 'off', true);
        select * into v_page from urd.survey(
            p_realm, o_position, least(o_head, o_position + greatest(p_page, 1), p_until));
        select m.o_position, m.o_problem into o_position, o_halted_why
            from urd.move(v_at, v_page.p_last, v_page.o_types, v_page.o_problem) m;
        o_halted_at := case when o_halted_why is not null then o_position + 1 end;
    end if;
    return next;
end $$;

-- Moves the live builds behind a realm's log by one page that is read once for all of them, and says
-- how far each of them is. Those that come last go first, but for stragglers, which are more than a
-- page behind the others: they and the halted ones are moved by `urd.project`. Nothing is returned of
-- builds that another node is at.
create function urd.walk(p_realm text, p_page integer)
returns table (
    o_projection text, o_position bigint, o_head bigint, o_walks boolean)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
set max_parallel_workers_per_gather = 0 as $$
declare
    v_mine urd.projection_position[];
    v_at urd.projection_position;
    v_furthest bigint;
    v_first bigint;
    v_next bigint;
    v_page record;
begin
    select array_agg(l.p) into v_mine from (
        select p from urd.projection_build b
            join urd.projection_position p on p.realm = p_realm
                and p.projection = b.projection and p.build = b.build
            where b.status = 'live' and not b.inline
            for no key update of p skip locked) l;
    if v_mine is null then
        return;
    end if;
    select h.position into o_head from urd.realm_log h where h.realm = p_realm;
    select max(m.position) into v_furthest from unnest(v_mine) m where m.halted_at is null;
    select min(m.position), nullif(max(m.position), min(m.position)) into v_first, v_next
        from unnest(v_mine) m where m.halted_at is null and m.position >= v_furthest - p_page;
    if v_first < o_head then
        -- What a crash takes away is applied again: no need to wait for the disk.
        perform set_config('synchronous_commit', 'off', true);
        select * into v_page from urd.survey(
            p_realm, v_first, least(o_head, v_next, v_first + greatest(p_page, 1)));
    end if;
    foreach v_at in array v_mine loop
        o_projection := v_at.projection;
        o_position := v_at.position;
        o_walks := v_at.halted_at is null and v_at.position >= v_first;
        if v_first < o_head and v_at.halted_at is null and v_at.position = v_first then
            select m.o_position, m.o_problem is null into o_position, o_walks
                from urd.move(v_at, v_page.p_last, v_page.o_types, v_page.o_problem) m;
        end if;
        return next;
    end loop;
end $$;

revoke all on function urd.survey, urd.move, urd.project, urd.walk from public;
grant execute on function urd.project, urd.walk to urd_app;
