-- Credentials in a whole realm as of a moment, beside what was there.

-- What a build has read models of.
create function urd.as_of_projections() returns text[]
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return array['accounts', 'sessions', 'clients', 'passkeys', 'credentials', 'findings', 'login_history',
    'daily_counts'];

-- What a definition names in `urd`, named in a build's schema.
create or replace function urd.as_of_text(p_id uuid, p_position bigint, p_text text) returns text
language sql immutable set search_path = pg_catalog, pg_temp
return replace(
    regexp_replace(
        regexp_replace(
            p_text, '\murd\.audit_trail_[0-9]+\M',
            -- The log is its own trail.
            format(
                '(select e.realm, e.position, e.at, e.stream, e.subject, e.type, e.meta ->> ''actor'' as actor, '
                    'e.meta ->> ''client'' as client, e.meta ->> ''correlation'' as correlation '
                    'from urd.event e where e.position <= %s)', p_position), 'g'),
        format('\murd\.(%s)_[0-9]+(?![0-9])', array_to_string(urd.as_of_projections(), '|')),
        urd.as_of_schema(p_id) || '.\1', 'g'),
    'analyst.realm()', format('analyst.realm_at(%L::uuid)', p_id));

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
create or replace function urd.begin_as_of(
    p_realm text, p_id uuid, p_projection text, p_position bigint) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
    v_table text := format('%I.%I', urd.as_of_schema(p_id), p_projection);
    v_again text := v_table || '_touched';
    v_live record;
    v_head bigint;
    v_index text;
    v_indexed bigint;
begin
    select b.build, b.types, format('urd.%I', b.projection || '_' || b.build) as name,
            case when p.attached then h.position else p.position end as position
        into v_live
        from urd.projection_build b
        left join urd.projection_position p on p.realm = p_realm
            and p.projection = b.projection and p.build = b.build
        left join urd.realm_log h on h.realm = p_realm
        where b.projection = p_projection and b.status = 'live';
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
    if coalesce(v_live.position, 0) - p_position not between 0 and p_position / 2
        or p_projection = 'credentials' and coalesce(v_indexed, 0) < p_position
    then
        perform urd.copy_indexes(v_live.name::regclass, v_table, true);
        perform urd.teach_planner(v_table::regclass);
        return false;
    end if;
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
        perform urd.copy_indexes(v_live.name::regclass, v_table, true);
        return true;
    end if;
    execute format('insert into %s select t.* from %s t where t.realm = $1 and %s', v_table,
        v_live.name, case p_projection when 'login_history' then 't.position <= $2' else 'true' end)
        using p_realm, p_position;
    select h.position into v_head from urd.realm_log h where h.realm = p_realm;
    perform urd.copy_indexes(v_live.name::regclass, v_table, true);
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

-- Makes the schema of a build that a node has for itself. False: it does not have it any more.
create or replace function urd.open_as_of(p_realm text, p_id uuid, p_maker uuid) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_schema text := urd.as_of_schema(p_id);
    v_position bigint;
    v_part record;
    v_parts integer := 0;
begin
    select b.position into v_position from urd.as_of_build b
        where b.realm = p_realm and b.id = p_id and b.state = 'running' and b.leased_by = p_maker
        for update;
    if not found then
        return false;
    end if;
    if exists (select from pg_namespace n where n.nspname = v_schema) then
        return true;
    end if;
    execute format('create schema %I', v_schema);
    for v_part in
        select b.projection, b.types, c.oid::regclass as live,
            format('%I.%I', v_schema, b.projection) as name,
            coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '') as options,
            (select pg_get_functiondef(p.oid) from pg_proc p
                where p.pronamespace = 'urd'::regnamespace
                    and p.proname = b.projection || '_' || b.build || '_apply'
                    and p.pronargs = 4) as apply
        from urd.projection_build b
        join pg_class c on c.relnamespace = 'urd'::regnamespace
            and c.relname = b.projection || '_' || b.build
        where b.status = 'live' and b.projection = any (urd.as_of_projections())
    loop
        execute format(
            'create table %s (like %s including defaults including constraints including storage)%s',
            v_part.name, v_part.live, v_part.options);
        execute format('create view %s_event as select %s from urd.event e where e.realm = %L',
            v_part.name, urd.as_of_columns(), p_realm);
        execute replace(urd.as_of_text(p_id, v_position, v_part.apply), ' urd.event ',
            format(' %s_event ', v_part.name));
        insert into urd.as_of_part (realm, id, projection, types)
            values (p_realm, p_id, v_part.projection, v_part.types);
        v_parts := v_parts + 1;
    end loop;
    if v_parts < cardinality(urd.as_of_projections()) then
        raise object_not_in_prerequisite_state using
            message = 'read models are missing', hint = 'Build them with: urd migrate';
    end if;
    execute format('revoke all on all functions in schema %I from public', v_schema);
    return true;
end $$;

-- Lets analysts of the realm see a build whose read models are all done. False: it is another's, or not wanted.
create or replace function urd.show_as_of(p_realm text, p_id uuid, p_maker uuid) returns boolean
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
            and pg_get_viewdef(c.oid) ~ format('\murd\.(audit_trail|%s)_[0-9]',
                array_to_string(urd.as_of_projections(), '|'))
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
    execute format('grant select on %1$I.accounts, %1$I.sessions, %1$I.clients, %1$I.passkeys, '
        '%1$I.credentials to urd_app', v_schema);
    update urd.as_of_build b set state = 'ready', finished_at = now(), leased_by = null
        where b.realm = p_realm and b.id = p_id;
    return true;
end $$;

revoke all on function urd.as_of_projections, urd.begin_credentials_as_of from public;
