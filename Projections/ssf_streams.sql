-- The streams of security signals that clients have: to whom, how, and whether anything is sent.
-- Read by: the receiver's own routes, and what sends the signals.
--
-- kind: inline
-- types: ssf_stream.created ssf_stream.changed ssf_stream.status_changed ssf_stream.deleted

-- section: tables

create table {table} (
    realm text collate "C" not null,
    stream uuid not null,
    client uuid not null,
    client_id text collate "C" not null,
    issuer text collate "C" not null,
    slot integer not null,
    method text collate "C" not null,
    status text collate "C" not null,
    created_at timestamptz not null,
    version integer not null,
    primary key (realm, stream)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    insert into {table} as s (
        realm, stream, client, client_id, issuer, slot, method, status, created_at, version)
    select p_realm, e.stream, (e.data ->> 'client')::uuid, e.data ->> 'client_id',
        e.data ->> 'issuer', (e.data ->> 'slot')::integer, e.data ->> 'method', 'enabled',
        e.at, e.version
    from urd.event e
    where e.realm = p_realm and e.position between p_first and p_last
        and e.type = 'ssf_stream.created';

    -- Each column as the last event of the page has it that says anything of it.
    update {table} s set
        method = coalesce(l.method, s.method), status = coalesce(l.status, s.status),
        version = l.version
    from (
        select e.stream, max(e.version) as version,
            (array_agg(e.data ->> 'method' order by e.position desc)
                filter (where e.type = 'ssf_stream.changed'))[1] as method,
            (array_agg(e.data ->> 'status' order by e.position desc)
                filter (where e.type = 'ssf_stream.status_changed'))[1] as status
        from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type in ('ssf_stream.changed', 'ssf_stream.status_changed')
        group by e.stream
    ) l
    where s.realm = p_realm and s.stream = l.stream;

    delete from {table} s
        where s.realm = p_realm and s.stream = any (array(
            select e.stream from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type = 'ssf_stream.deleted'));
end $$;

-- section: finish

create index on {table} (realm, client);

-- section: readers

create or replace view urd.ssf_streams as
    select s.realm, s.stream, s.client, s.client_id, s.issuer, s.slot, s.method, s.status,
        s.created_at, s.version
    from {table} s;
grant select on urd.ssf_streams to urd_app, urd_observer;
