-- A whole realm as of a moment: read models that are built from the log up to a position and no further, in a
-- schema of their own, for an hour. What is in it is made of the same files as the live builds (`projection_text`):
-- their tables, their functions and the views of analysts. So an as-of build applies what the live one applies, and
-- a node that may create nothing asks for one by its id alone.
--
-- However a node ends, each step is a transaction: a page moves with the position that says how far it is, the views
-- come with the state `ready`, and a schema whose build is not wanted any more is dropped by the next sweep.

-- The sections of a read model's file, as the engine put them down with the build that it made of them. For names
-- they have places, which `fill_as_of` knows.
create table urd.projection_text (
    projection text collate "C" not null,
    build integer not null,
    section text collate "C" not null check (section in ('tables', 'apply', 'finish', 'analysts')),
    text text not null,
    primary key (projection, build, section),
    foreign key (projection, build) references urd.projection_build on delete cascade
);

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
    -- The build that it is made like.
    build integer not null,
    -- The event types that it looks at. Null: every one.
    types text[],
    stage text collate "C" not null default 'new' check (stage in ('new', 'filling', 'done')),
    -- Whether the live rows were copied: then what is applied is what was touched since the moment.
    copied boolean not null default false,
    -- How the indexes are made that only readers need: when all is applied.
    indexes text[] not null default '{}',
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

-- What a build has read models of.
create function urd.as_of_projections() returns text[]
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return array['accounts', 'sessions', 'clients', 'passkeys', 'credentials', 'findings', 'login_history',
    'daily_counts'];

-- A section of a read model's file with the names that a build has for what the section speaks of.
create function urd.fill_as_of(p_id uuid, p_table text, p_text text) returns text
language sql immutable set search_path = pg_catalog, pg_temp
return replace(replace(replace(replace(replace(replace(p_text,
    '{table}', p_table),
    '{log}', p_table || '_event'),
    '{schema}', urd.as_of_schema(p_id)),
    '{analyst}', urd.as_of_schema(p_id)),
    '{analyst_realm}', format('analyst.realm_at(%L::uuid)', p_id)),
    '{as_it_is}', 'as it was');

-- Of events what read models look at.
create function urd.as_of_columns() returns text
language sql immutable set search_path = pg_catalog, pg_temp
return 'e.realm, e.position, e.at, e.stream, e.subject, e.version, e.type, e.meta, e.data';

-- Makes the schema of a build that a node has for itself. False: it does not have it any more.
create function urd.open_as_of(p_realm text, p_id uuid, p_maker uuid) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_schema text := urd.as_of_schema(p_id);
    v_position bigint;
    v_model record;
    v_table text;
    v_made text[] := '{}';
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
    for v_model in
        select b.projection, b.build, b.types, t.sections
        from urd.projection_build b cross join lateral (
            select jsonb_object_agg(x.section, x.text) as sections from urd.projection_text x
            where x.projection = b.projection and x.build = b.build) t
        where b.status = 'live' and t.sections is not null
        -- Views of some are made of others, as in `urd`.
        order by b.projection
    loop
        v_table := format('%I.%I', v_schema, v_model.projection);
        if v_model.projection = 'audit_trail' then
            -- The log is its own trail.
            v_table := format(
                '(select e.realm, least(e.position) as position, e.at, e.stream, e.subject, e.type, '
                    'e.meta ->> ''actor'' as actor, '
                    'e.meta ->> ''client'' as client, e.meta ->> ''correlation'' as correlation '
                    'from urd.event e where e.position <= %s)', v_position);
        else
            execute urd.fill_as_of(p_id, v_table, v_model.sections ->> 'tables');
            -- Of analysts, who may ask how it would be read although it is another realm's.
            execute (
                select format('alter table %s ', v_table)
                    || string_agg(format('alter column %I set statistics 0', a.attname), ', ')
                from pg_attribute a
                where a.attrelid = v_table::regclass and a.attnum > 0 and not a.attisdropped
                    and a.attname <> 'realm');
            execute format('create view %s_event as select %s from urd.event e where e.realm = %L',
                v_table, urd.as_of_columns(), p_realm);
            execute urd.fill_as_of(p_id, v_table, v_model.sections ->> 'apply');
            insert into urd.as_of_part (realm, id, projection, build, types)
                values (p_realm, p_id, v_model.projection, v_model.build, v_model.types);
        end if;
        execute urd.fill_as_of(p_id, v_table, v_model.sections ->> 'analysts');
        v_made := v_made || v_model.projection;
    end loop;
    if not (urd.as_of_projections() || 'audit_trail'::text) <@ v_made then
        raise object_not_in_prerequisite_state using
            message = 'read models are missing', hint = 'Build them with: urd migrate';
    end if;
    execute format('revoke all on all functions in schema %I from public', v_schema);
    return true;
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

revoke all on function urd.as_of_schema, urd.as_of_projections, urd.fill_as_of, urd.as_of_columns, urd.open_as_of,
    analyst.realm_at from public;
grant execute on function urd.as_of_schema, urd.open_as_of to urd_app;
grant execute on function analyst.realm_at to urd_analyst;
