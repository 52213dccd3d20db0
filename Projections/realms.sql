-- Each realm as it is now: whether it is open, and the settings that somebody gave it.
-- Read by: every request, before anything else; the admin API, `urd realm`.
--
-- kind: inline
-- types: realm.created realm.settings_changed realm.disabled realm.enabled

-- section: tables

create table {table} (
    realm text collate "C" primary key,
    -- Nulls are only ever in a row that is proposed to an update: the page says nothing there.
    disabled boolean,
    settings jsonb,
    created_at timestamptz,
    changed_at timestamptz not null,
    version integer not null
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    with page as (
        select
            -- The time of the last event, not the latest time: clocks of nodes differ, and changes that
            -- are made together are not put on record in the order in which they were asked for.
            max(array[e.version, date_part('epoch', e.at)]) as last,
            min(e.at) filter (where e.type = 'realm.created') as created_at,
            max(e.position * 2 + (e.type = 'realm.disabled')::integer) filter (
                where e.type in ('realm.disabled', 'realm.enabled')) as switched
        from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = any ({types})
    ), changes as (
        -- Of several values for one setting the last one given stays.
        select jsonb_object_agg(s.key, s.value::jsonb order by e.position) as settings
        from urd.event e
        cross join lateral json_each(case e.type
            when 'realm.created' then json_build_object('display_name', e.data -> 'display_name')
            else e.data -> 'changes' end) s
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type in ('realm.created', 'realm.settings_changed')
    )
    insert into {table} as r (
        realm, disabled, settings, created_at, changed_at, version)
    select p_realm,
        coalesce(p.switched % 2 = 1, case when p.created_at is not null then false end),
        case when p.created_at is null then c.settings else (
            select coalesce(jsonb_object_agg(s.key, s.value), '{}')
            from jsonb_each(coalesce(c.settings, '{}')) s where s.value <> 'null') end,
        p.created_at, to_timestamp(p.last[2]), p.last[1]
    from page p cross join changes c
    where p.last is not null and (p.created_at is not null or (
        select true from {table} k where k.realm = p_realm))
    on conflict (realm) do update set
        disabled = coalesce(excluded.disabled, r.disabled),
        -- Null unsets: the default holds again.
        -- Within a value it is its own business.
        settings = (
            select coalesce(jsonb_object_agg(s.key, s.value), '{}')
            from jsonb_each(r.settings || coalesce(excluded.settings, '{}')) s
            where s.value <> 'null'),
        changed_at = excluded.changed_at,
        version = excluded.version;
end $$;

-- section: finish

-- section: readers

create or replace view urd.realms as
    select r.realm, r.disabled, r.settings, r.created_at, r.changed_at, r.version
    from {table} r;
grant select on urd.realms to urd_app, urd_observer;
