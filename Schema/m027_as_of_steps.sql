-- How a whole realm as of a moment is filled, shown and dropped.

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
begin
    select b.position, b.page into v_until, v_page from urd.as_of_build b
        where b.realm = p_realm and b.id = p_id and b.state = 'running' and b.leased_by = p_maker
        for key share;
    if not found then
        return;
    end if;
    -- Whoever lost the build may still be at a page: what it leaves is what the next one finds.
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
        update urd.as_of_part p
            set stage = 'filling', copied = urd.begin_as_of(p_realm, p_id, p_projection, v_until)
            where p.realm = p_realm and p.id = p_id and p.projection = p_projection;
    elsif v_part.stage = 'filling' and v_part.position >= v_until then
        perform urd.copy_indexes(
            (select format('urd.%I', b.projection || '_' || b.build)::regclass
                from urd.projection_build b
                where b.projection = p_projection and b.status = 'live'), v_table, false);
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

-- Lets analysts of the realm see a build whose read models are all done. False: it is another's, or not wanted.
create function urd.show_as_of(p_realm text, p_id uuid, p_maker uuid) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_schema text := urd.as_of_schema(p_id);
    v_position bigint;
    v_view record;
    v_comment record;
begin
    select b.position into v_position from urd.as_of_build b
        where b.realm = p_realm and b.id = p_id and b.state = 'running' and b.leased_by = p_maker
        for update;
    if not found or exists (
        select from urd.as_of_part p where p.realm = p_realm and p.id = p_id and p.stage <> 'done')
    then
        return false;
    end if;
    for v_view in
        select c.oid, c.relname as name, pg_get_viewdef(c.oid) as definition
        from pg_class c
        where c.relnamespace = 'analyst'::regnamespace and c.relkind = 'v'
            and pg_get_viewdef(c.oid) ~ ('\murd\.(audit_trail|accounts|sessions|clients|passkeys|findings|'
                'login_history|daily_counts)_[0-9]')
    loop
        execute format('create view %I.%I with (security_barrier) as %s', v_schema, v_view.name,
            urd.as_of_text(p_id, v_position, v_view.definition));
        for v_comment in
            select a.attname, replace(d.description, 'as it is now', 'as it was') as words
            from pg_description d
            left join pg_attribute a on a.attrelid = d.objoid and a.attnum = d.objsubid
                and d.objsubid > 0
            where d.objoid = v_view.oid and d.classoid = 'pg_class'::regclass
        loop
            execute format('comment on %s %I.%I%s is %L',
                case when v_comment.attname is null then 'view' else 'column' end, v_schema,
                v_view.name, coalesce('.' || quote_ident(v_comment.attname), ''), v_comment.words);
        end loop;
        execute format('grant select on %I.%I to urd_analyst', v_schema, v_view.name);
    end loop;
    execute format('grant usage on schema %I to urd_analyst, urd_app', v_schema);
    execute format(
        'grant select on %1$I.accounts, %1$I.sessions, %1$I.clients, %1$I.passkeys to urd_app',
        v_schema);
    update urd.as_of_build b set state = 'ready', finished_at = now(), leased_by = null
        where b.realm = p_realm and b.id = p_id;
    return true;
end $$;

-- Drops the schemas of builds that nobody wants any more. One that is read stays for the next sweep; its views show
-- nothing from the moment on that it was cancelled or its hour was over.
create function urd.sweep_as_of() returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
declare
    v_schema text;
    v_dropped integer := 0;
begin
    if not pg_try_advisory_xact_lock(hashtext('urd.sweep_as_of')) then
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

-- The realm of the analyst who asks, where a build is of that realm and may still be read.
create function analyst.realm_at(p_id uuid) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_realm text := analyst.realm();
begin
    perform from urd.as_of_build b
        where b.id = p_id and b.realm = v_realm and b.state = 'ready'
            and b.finished_at >= now() - interval '1 hour';
    if not found then
        raise insufficient_privilege using
            message = 'this state of a realm is of another realm, or not kept any more',
            hint = 'Ask for one with: urd as-of realm MOMENT';
    end if;
    return v_realm;
end $$;

revoke all on function urd.step_as_of, urd.show_as_of, urd.sweep_as_of, analyst.realm_at from public;
grant execute on function urd.step_as_of, urd.show_as_of, urd.sweep_as_of to urd_app;
grant execute on function analyst.realm_at to urd_analyst;
