-- The web apps and konnectors of a realm as they are now.
-- Read by: every request of the flagship profile, to find whose page it asks for; the admin API,
-- `urd web-app`.
--
-- kind: inline
-- types: web_app.registered web_app.updated web_app.removed

-- section: tables

create table {table} (
    realm text collate "C" not null,
    web_app uuid not null,
    kind text collate "C" not null,
    slug text collate "C" not null,
    -- Host and port of the place where its pages are, if that is not its sub-domain.
    origin_host text collate "C",
    -- As the last event has it.
    card text collate "C" not null,
    registered_at timestamptz not null,
    changed_at timestamptz not null,
    version integer not null,
    primary key (realm, web_app)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    -- Each event says all of it, so that the last one counts.
    insert into {table} as w (
        realm, web_app, kind, slug, origin_host, card, registered_at, changed_at, version)
    select p_realm, l.stream, l.data ->> 'kind', l.data ->> 'slug',
        split_part(l.data ->> 'origin', '//', 2), l.data::text,
        (select f.at from urd.event f
            where f.realm = p_realm and f.stream = l.stream and f.version = 1),
        l.at, l.version
    from (
        select distinct on (e.stream) e.stream, e.type, e.data, e.at, e.version
        from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = any ({types})
        order by e.stream, e.position desc
    ) l
    where l.type <> 'web_app.removed'
    on conflict (realm, web_app) do update set
        kind = excluded.kind, slug = excluded.slug, origin_host = excluded.origin_host,
        card = excluded.card, changed_at = excluded.changed_at, version = excluded.version;

    delete from {table} w
        where w.realm = p_realm and w.web_app = any (array(
            select e.stream from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type = 'web_app.removed'));
end $$;

-- section: finish

-- Not unique: claims see to that, and two may change places within a page.
create index on {table} (realm, slug);
create index on {table} (realm, origin_host) where origin_host is not null;

-- section: readers

create or replace view urd.web_apps as
    select w.realm, w.web_app, w.kind, w.slug, w.origin_host, w.card, w.registered_at,
        w.changed_at, w.version
    from {table} w;
grant select on urd.web_apps to urd_app, urd_observer;
