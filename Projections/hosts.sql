-- Which realm a host name leads to. The directory is kept in the realm `system`.
-- Read by: every request, to find its realm; the admin API, `urd host`.
--
-- kind: inline
-- types: host.assigned host.released

-- section: tables

create table {table} (
    realm text collate "C" not null,
    stream uuid not null,
    host text collate "C" not null,
    leads_to text collate "C" not null,
    assigned_at timestamptz not null,
    version integer not null,
    primary key (realm, stream)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
declare
    v_gone uuid;
begin
    -- A host that is given up may be taken by another stream in the same page: first let go.
    if p_types is null or 'host.released' = any (p_types) then
        for v_gone in
            select e.stream from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type = 'host.released'
        loop
            delete from {table} x where x.realm = p_realm and x.stream = v_gone;
        end loop;
    end if;

    insert into {table} as h (realm, stream, host, leads_to, assigned_at, version)
    select p_realm, l.stream, l.data ->> 'host', l.data ->> 'realm', l.at, l.version
    from (
        select distinct on (e.stream) e.stream, e.type, e.data, e.at, e.version
        from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = any ({types})
        order by e.stream, e.position desc
    ) l
    where l.type = 'host.assigned'
    on conflict (realm, stream) do update set
        host = excluded.host, leads_to = excluded.leads_to, assigned_at = excluded.assigned_at,
        version = excluded.version;
end $$;

-- section: finish

create unique index on {table} (realm, host);
create index on {table} (realm, leads_to, host);

-- section: readers

create or replace view urd.hosts as
    select h.realm, h.stream, h.host, h.leads_to, h.assigned_at, h.version
    from {table} h;
grant select on urd.hosts to urd_app, urd_observer;
