-- The apps of a realm as they are now: sub-domain, name, and the settings that each has for itself.
-- Read by: sign-in, to find the settings that hold; the admin API, `urd app`.
--
-- kind: inline
-- types: app.created app.updated app.deleted

-- section: tables

create table {table} (
    realm text collate "C" not null,
    app uuid not null,
    -- Nulls are only ever in a row that is proposed to an update: the page says nothing there.
    slug text collate "C",
    name text collate "C",
    settings jsonb,
    created_at timestamptz,
    changed_at timestamptz not null,
    version integer not null,
    primary key (realm, app)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
declare
    v_gone uuid;
begin
    if p_types is null or 'app.deleted' = any (p_types) then
        for v_gone in
            select e.stream from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type = 'app.deleted'
        loop
            delete from {table} x where x.realm = p_realm and x.app = v_gone;
        end loop;
    end if;

    with page as (
        select e.stream,
            -- The time of the last event, not the latest time: clocks of nodes differ, and changes that
            -- are made together are not put on record in the order in which they were asked for.
            max(array[e.version, date_part('epoch', e.at)]) as last,
            min(e.at) filter (where e.type = 'app.created') as created_at,
            max(((1000000000000000000 + e.position)::text || (e.data ->> 'slug')) collate "C")
                as slug,
            max(((1000000000000000000 + e.position)::text || (e.data ->> 'name')) collate "C")
                as name
        from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = any ({types})
        group by e.stream
        having not bool_or(e.type = 'app.deleted')
    ), changes as (
        -- Of several values for one setting the last one given stays.
        select e.stream, jsonb_object_agg(s.key, s.value::jsonb order by e.position) as settings
        from urd.event e cross join lateral json_each(e.data -> 'settings') s
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = 'app.updated'
        group by e.stream
    )
    insert into {table} as a (
        realm, app, slug, name, settings, created_at, changed_at, version)
    select p_realm, p.stream, right(p.slug, -19), right(p.name, -19),
        case when p.created_at is null then c.settings else (
            select coalesce(jsonb_object_agg(s.key, s.value), '{}')
            from jsonb_each(coalesce(c.settings, '{}')) s where s.value <> 'null') end,
        p.created_at, to_timestamp(p.last[2]), p.last[1]
    from page p left join changes c using (stream)
    where p.created_at is not null or (
        select true from {table} k where k.realm = p_realm and k.app = p.stream)
    on conflict (realm, app) do update set
        slug = coalesce(excluded.slug, a.slug),
        name = coalesce(excluded.name, a.name),
        -- Null unsets: the realm's value holds again.
        -- Within a value it is its own business.
        settings = (
            select coalesce(jsonb_object_agg(s.key, s.value), '{}')
            from jsonb_each(a.settings || coalesce(excluded.settings, '{}')) s
            where s.value <> 'null'),
        changed_at = excluded.changed_at,
        version = excluded.version;
end $$;

-- section: finish

-- Not unique: claims see to that, and two apps may change places within a page.
create index on {table} (realm, slug);

-- section: readers

create or replace view urd.apps as
    select a.realm, a.app, a.slug, a.name, a.settings, a.created_at, a.changed_at, a.version
    from {table} a;
grant select on urd.apps to urd_app, urd_observer;
