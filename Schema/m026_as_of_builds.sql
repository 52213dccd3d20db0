-- A whole realm as of a moment: read models that are built from the log up to a position and no further, in a
-- schema of their own, for an hour. What is in them is copied from the live builds as PostgreSQL has these: their
-- tables, their functions and the views of analysts. So an as-of build applies what the live one applies, and a
-- node that may create nothing asks for one by its id alone.
--
-- Whatever ends a node, each step is a transaction: a page moves with the position that says how far it is, the views
-- come with the state `ready`, and a schema whose build is not wanted any more is dropped by the next sweep.

create table urd.as_of_build (
    realm text collate "C" not null,
    id uuid not null unique,
    state text collate "C" not null default 'waiting'
        check (state in ('waiting', 'running', 'ready', 'failed', 'cancelled', 'expired')),
    -- Who asked, and for what, as it was written.
    asker text not null,
    moment text not null,
    epoch integer not null,
    -- The last position that is applied, and when its event happened.
    position bigint not null check (position >= 0),
    at timestamptz,
    -- How many positions a page has.
    page integer not null default 50000 check (page > 0),
    asked_at timestamptz not null,
    fault text collate "C",
    finished_at timestamptz,
    -- The one node that makes it, by the database's clock: when it is gone, another goes on.
    leased_by uuid,
    lease_until timestamptz,
    primary key (realm, id)
);
create index as_of_build_wanted on urd.as_of_build (asked_at)
    where state in ('waiting', 'running', 'ready');

-- How far each read model of a build is.
create table urd.as_of_part (
    realm text collate "C" not null,
    id uuid not null,
    projection text collate "C" not null,
    -- The event types that it looks at. Null: every one.
    types text[],
    stage text collate "C" not null default 'new' check (stage in ('new', 'filling', 'done')),
    -- Whether the live rows were copied: then what is applied is what was touched since the moment.
    copied boolean not null default false,
    position bigint not null default 0,
    -- How many rows it has, once it is done.
    rows bigint,
    primary key (realm, id, projection),
    foreign key (realm, id) references urd.as_of_build on delete cascade
);

-- The types of the events of a page, which its read models are spared looking for.
create table urd.as_of_page (
    realm text collate "C" not null,
    id uuid not null,
    page bigint not null,
    types text[],
    primary key (realm, id, page),
    foreign key (realm, id) references urd.as_of_build on delete cascade
);

grant select, insert, update on urd.as_of_build to urd_app;
grant select on urd.as_of_part to urd_app;

create function urd.as_of_schema(p_id uuid) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return 'analyst_at_' || replace(p_id::text, '-', '');

-- What a definition names in `urd`, named in a build's schema.
create function urd.as_of_text(p_id uuid, p_position bigint, p_text text) returns text
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
        '\murd\.(accounts|sessions|clients|passkeys|findings|login_history|daily_counts)_[0-9]+(?![0-9])',
        urd.as_of_schema(p_id) || '.\1', 'g'),
    'analyst.realm()', format('analyst.realm_at(%L::uuid)', p_id));

-- Copies indexes of a live table that a build's table does not have yet.
create function urd.copy_indexes(p_live regclass, p_table text, p_key boolean) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
    v_index text;
begin
    for v_index in
        select pg_get_indexdef(i.indexrelid) from pg_index i where i.indrelid = p_live
            -- Pages look up by the key, and sign-ins of an account that ended.
            and (i.indisprimary or pg_get_indexdef(i.indexrelid) like '%login\_history%(realm, account, at, "position")%')
                = p_key
            -- Who asks for sign-ins of an hour's build can wait for a scan.
            and (p_key or p_live::text not like '%login\_history%')
    loop
        execute regexp_replace(
            v_index, ' INDEX \S+ ON (ONLY )?urd\.\S+ ', format(' INDEX ON %s ', p_table));
    end loop;
end $$;

-- Of events what read models look at.
create function urd.as_of_columns() returns text
language sql immutable set search_path = pg_catalog, pg_temp
return 'e.realm, e.position, e.at, e.stream, e.subject, e.version, e.type, e.meta, e.data';

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
    v_head bigint;
begin
    select b.build, b.types, format('urd.%I', b.projection || '_' || b.build) as name,
            case when p.attached then h.position else p.position end as position
        into v_live
        from urd.projection_build b
        left join urd.projection_position p on p.realm = p_realm
            and p.projection = b.projection and p.build = b.build
        left join urd.realm_log h on h.realm = p_realm
        where b.projection = p_projection and b.status = 'live';
    if coalesce(v_live.position, 0) - p_position not between 0 and p_position / 2 then
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
create function urd.open_as_of(p_realm text, p_id uuid, p_maker uuid) returns boolean
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
        where b.status = 'live' and b.projection in ('accounts', 'sessions', 'clients', 'passkeys',
            'findings', 'login_history', 'daily_counts')
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
    if v_parts < 7 then
        raise object_not_in_prerequisite_state using
            message = 'read models are missing', hint = 'Build them with: urd migrate';
    end if;
    execute format('revoke all on all functions in schema %I from public', v_schema);
    return true;
end $$;

revoke all on function urd.as_of_schema, urd.as_of_text, urd.as_of_columns, urd.copy_indexes, urd.begin_as_of,
    urd.open_as_of from public;
grant execute on function urd.as_of_schema, urd.open_as_of to urd_app;
