-- How a whole realm as of a moment is filled.

-- Takes a table's indexes away, and its keys too if that is said: rows are faster without. Says how they are made again.
create function urd.lift_indexes(p_table regclass, p_keys boolean) returns text[]
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
    v_index record;
    v_again text[] := '{}';
begin
    for v_index in
        select i.indexrelid, i.indexrelid::regclass as name, c.oid as key, c.conname
        from pg_index i left join pg_constraint c on c.conrelid = i.indrelid and c.conindid = i.indexrelid
        where i.indrelid = p_table and (p_keys or c.oid is null)
    loop
        if v_index.key is null then
            v_again := v_again || pg_get_indexdef(v_index.indexrelid);
            execute format('drop index %s', v_index.name);
        else
            v_again := v_again
                || format('alter table %s add %s', p_table, pg_get_constraintdef(v_index.key));
            execute format('alter table %s drop constraint %I', p_table, v_index.conname);
        end if;
    end loop;
    return v_again;
end $$;

-- Of a build's copied credentials: takes out all of the accounts to which something happened since the moment, and
-- puts down the events that they are made from again.
create function urd.begin_credentials_as_of(
    p_realm text, p_table text, p_position bigint, p_head bigint, p_types text[], p_index text)
returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
begin
    execute format($sql$
        create table %1$s_touched as
        with later as (
            select e.stream, e.type, (e.data ->> 'account')::uuid as account from urd.event e
            where e.realm = %2$L and e.position > %3$s and e.position <= %4$s
                and e.type = any (%5$L::text[])
        ), whose as (
            select l.account from later l
            union select l.stream from later l where l.type = 'account.deleted'
            union select c.account from %1$s c join later l on l.stream = c.credential
        )
        -- Whose a credential is the log does not say of all.
        select w.account, null::uuid as credential from whose w where w.account is not null
        union select null, l.stream from later l
        union select null, c.credential from %1$s c join whose w on w.account = c.account
        $sql$, p_table, p_realm, p_position, p_head, p_types);
    execute format('drop view %s_event', p_table);
    execute format($sql$
        create table %1$s_event as
        select %2$s from urd.event e join (
            select i.position from %1$s_touched t
                join %3$s i on i.realm = %4$L and i.account = t.account
            union select x.position from %1$s_touched t
                join urd.event x on x.realm = %4$L and x.stream = t.credential) found
            on found.position = e.position
        where e.realm = %4$L and e.position <= %5$s and e.type = any (%6$L::text[])
        $sql$, p_table, urd.as_of_columns(), p_index, p_realm, p_position, p_types);
    execute format('create unique index on %s_event (realm, position)', p_table);
    execute format('create unique index on %s_event (realm, stream, version)', p_table);
    execute format('analyze %s_event', p_table);
    execute format('delete from %1$s c using %1$s_touched t where c.credential = t.credential', p_table);
end $$;

-- Begins a read model of a build, and says whether its live rows were copied.
--
-- They are where less happened since the moment than before it. The rows of a stream of which no event came since are
-- those of the moment; all others go, and are applied again from the first event of their streams. What live rows stand for
-- may move on meanwhile: what was touched is looked for afterwards, up to where the log is then.
create function urd.begin_as_of(
    p_realm text, p_id uuid, p_projection text, p_position bigint) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
    v_table text := format('%I.%I', urd.as_of_schema(p_id), p_projection);
    v_again text := v_table || '_touched';
    v_live record;
    v_indexes text[];
    v_making text;
    v_head bigint;
    v_index text;
    v_indexed bigint;
begin
    select b.build, b.types, format('urd.%I', b.projection || '_' || b.build) as name,
            case when p.attached then h.position else p.position end as position
        into v_live
        from urd.as_of_part a
        -- Another one may be live by now: that has other rows.
        join urd.projection_build b
            on b.projection = a.projection and b.build = a.build and b.status = 'live'
        left join urd.projection_position p on p.realm = p_realm
            and p.projection = b.projection and p.build = b.build
        left join urd.realm_log h on h.realm = p_realm
        where a.realm = p_realm and a.id = p_id and a.projection = p_projection;
    if p_projection = 'credentials' then
        -- A credential is in the streams of others as well, which the index finds by whose it is.
        select format('urd.event_index_%s', b.build),
                case when p.attached then h.position else p.position end
            into v_index, v_indexed
            from urd.projection_build b
            left join urd.projection_position p on p.realm = p_realm
                and p.projection = b.projection and p.build = b.build
            left join urd.realm_log h on h.realm = p_realm
            where b.projection = 'event_index' and b.status = 'live';
    end if;
    if v_live.name is null
        or coalesce(v_live.position, 0) - p_position not between 0 and p_position / 2
        or p_projection = 'credentials' and coalesce(v_indexed, 0) < p_position
    then
        perform urd.teach_planner(v_table::regclass);
        return false;
    end if;
    v_indexes := urd.lift_indexes(v_table::regclass, true);
    if p_projection = 'daily_counts' then
        -- In one statement: what is counted in the rows is what the position says.
        execute format($sql$
            insert into %s (realm, day, type, events)
            select c.realm, c.day, c.type, c.events - coalesce(d.events, 0)
            from %s c left join (
                select (e.at at time zone 'UTC')::date as day, e.type, count(*) as events
                from urd.event e join urd.projection_position p on p.realm = e.realm
                    and p.projection = 'daily_counts' and p.build = $3
                where e.realm = $1 and e.position > $2 and e.position <= p.position
                group by 1, 2) d on d.day = c.day and d.type = c.type
            where c.realm = $1 and c.events > coalesce(d.events, 0) $sql$, v_table, v_live.name)
            using p_realm, p_position, v_live.build;
    else
        execute format('insert into %s select t.* from %s t where t.realm = $1 and %s', v_table,
            v_live.name,
            case p_projection when 'login_history' then 't.position <= $2' else 'true' end)
            using p_realm, p_position;
    end if;
    foreach v_making in array v_indexes loop
        execute v_making;
    end loop;
    if p_projection = 'daily_counts' then
        return true;
    end if;
    select h.position into v_head from urd.realm_log h where h.realm = p_realm;
    execute format('analyze %s', v_table);
    if p_projection = 'credentials' then
        perform urd.begin_credentials_as_of(
            p_realm, v_table, p_position, v_head, v_live.types, v_index);
        return true;
    end if;
    execute format(
        'create table %s as select distinct e.stream from urd.event e where e.realm = %L '
            'and e.position > %s and e.position <= %s and e.type = any (%L::text[])',
        v_again, p_realm, p_position, v_head, v_live.types);
    if p_projection = 'login_history' then
        -- A row says that its session ended, and not by which event: by one of its own, or of its account.
        execute format(
            'create table %1$s_again as select distinct u.stream from %1$s h '
                'cross join lateral unnest(array[h.session, h.account]) u (stream) '
                'where h.session is not null and h.ended_at is not null and ('
                'h.session in (select x.stream from %1$s_touched x) '
                'or h.account in (select x.stream from %1$s_touched x))', v_table);
        v_again := v_table || '_again';
    end if;
    execute format('drop view %s_event', v_table);
    execute format(
        'create table %1$s_event as select %2$s from %3$s x join urd.event e on e.realm = %4$L '
            'and e.stream = x.stream where e.position <= %5$s and e.type = any (%6$L::text[])',
        v_table, urd.as_of_columns(), v_again, p_realm, p_position, v_live.types);
    execute format('create unique index on %s_event (realm, position)', v_table);
    execute format('create unique index on %s_event (realm, stream, version)', v_table);
    execute format('analyze %s_event', v_table);
    if p_projection = 'login_history' then
        execute format('delete from %1$s t using %1$s_event e where t.realm = e.realm '
            'and t.at = e.at and t.position = e.position', v_table);
    else
        execute format('delete from %s t using %s x where t.%I = x.stream', v_table, v_again,
            rtrim(p_projection, 's'));
    end if;
    return true;
end $$;

-- Moves one read model of a build by a page, or finishes it. Nothing is returned where the build is another's or
-- is not wanted any more. As in `apply_inline` the planner is told.
create function urd.step_as_of(
    p_realm text, p_id uuid, p_maker uuid, p_projection text,
    out o_position bigint, out o_done boolean, out o_problem text)
returns setof record
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
set max_parallel_workers_per_gather = 0 set work_mem = '64MB' as $$
declare
    v_page bigint;
    v_table text := format('%I.%I', urd.as_of_schema(p_id), p_projection);
    v_until bigint;
    v_part urd.as_of_part;
    v_to bigint;
    v_types text[];
    v_survey record;
    v_rows bigint;
    v_gone text;
    v_making text;
begin
    select b.position, b.page into v_until, v_page from urd.as_of_build b
        where b.realm = p_realm and b.id = p_id and b.state = 'running' and b.leased_by = p_maker
        for key share;
    if not found then
        return;
    end if;
    -- A node that lost the build may still be at a page: what it leaves is what the next one finds.
    select p.* into v_part from urd.as_of_part p
        where p.realm = p_realm and p.id = p_id and p.projection = p_projection for update;
    if not found then
        return;
    end if;
    -- What a crash takes away is applied again: no need to wait for the disk.
    perform set_config('synchronous_commit', 'off', true);
    o_position := v_part.position;
    o_done := v_part.stage = 'done';
    if v_part.stage = 'new' then
        perform set_config('enable_seqscan', 'on', true);
        v_part.copied := urd.begin_as_of(p_realm, p_id, p_projection, v_until);
        -- Of the sign-ins those of an account are looked for while others are applied.
        if not v_part.copied and p_projection <> 'login_history' then
            v_part.indexes := urd.lift_indexes(v_table::regclass, false);
        end if;
        update urd.as_of_part p
            set stage = 'filling', copied = v_part.copied, indexes = v_part.indexes
            where p.realm = p_realm and p.id = p_id and p.projection = p_projection;
    elsif v_part.stage = 'filling' and v_part.position >= v_until then
        foreach v_making in array v_part.indexes loop
            execute v_making;
        end loop;
        -- A search for sign-ins in an hour's build can wait for a scan.
        if p_projection <> 'login_history' then
            execute urd.fill_as_of(p_id, v_table, (
                select x.text from urd.projection_text x
                where x.projection = p_projection and x.build = v_part.build
                    and x.section = 'finish'));
        end if;
        perform set_config('enable_seqscan', 'on', true);
        execute format('select count(*) from %s', v_table) into v_rows;
        if v_rows > 0 then
            execute format('analyze %s', v_table);
        end if;
        -- What was applied has done its work.
        for v_gone in
            select format('drop %s %s', case c.relkind when 'v' then 'view' else 'table' end,
                c.oid::regclass)
            from pg_class c
            where c.relnamespace = urd.as_of_schema(p_id)::regnamespace and c.relkind in ('r', 'v')
                and c.relname = any (array[p_projection || '_event', p_projection || '_touched',
                    p_projection || '_again'])
        loop
            execute v_gone;
        end loop;
        update urd.as_of_part p set stage = 'done', rows = v_rows
            where p.realm = p_realm and p.id = p_id and p.projection = p_projection;
        o_done := true;
    elsif v_part.stage = 'filling' and v_part.copied then
        if p_projection <> 'daily_counts' then
            execute format('select %I.%I($1, $2, $3, null)', urd.as_of_schema(p_id),
                p_projection || '_apply') using p_realm, 1::bigint, v_until;
        end if;
        o_position := v_until;
        update urd.as_of_part p set position = o_position
            where p.realm = p_realm and p.id = p_id and p.projection = p_projection;
    elsif v_part.stage = 'filling' then
        -- Pages without any of its events cost nothing: several of them are one step.
        for v_turn in 1..20 loop
            v_to := least((o_position / v_page + 1) * v_page, v_until);
            select g.types into v_types from urd.as_of_page g
                where g.realm = p_realm and g.id = p_id and g.page = o_position / v_page;
            if not found then
                select * into v_survey from urd.survey(p_realm, o_position, v_to);
                if v_survey.o_problem is not null then
                    o_problem := v_survey.o_problem;
                    return next;
                    return;
                end if;
                v_types := v_survey.o_types;
                insert into urd.as_of_page (realm, id, page, types)
                    values (p_realm, p_id, o_position / v_page, v_types) on conflict do nothing;
            end if;
            if v_part.types is null or v_part.types && v_types then
                execute format('select %I.%I($1, $2, $3, $4)', urd.as_of_schema(p_id),
                    p_projection || '_apply') using p_realm, o_position + 1, v_to, v_types;
                o_position := v_to;
                exit;
            end if;
            o_position := v_to;
            exit when o_position >= v_until;
        end loop;
        update urd.as_of_part p set position = o_position
            where p.realm = p_realm and p.id = p_id and p.projection = p_projection;
    end if;
    return next;
end $$;

revoke all on function urd.lift_indexes, urd.begin_credentials_as_of, urd.begin_as_of, urd.step_as_of from public;
grant execute on function urd.step_as_of to urd_app;
