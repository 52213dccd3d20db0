-- The device keys and PINs with which people sign in within the apps of a tenant, as they are now. What an app calls a
-- device is in no row.
-- Read by: the account page, analysts.
--
-- kind: inline
-- types: app_method.key_enrolled app_method.key_removed app_method.pin_set app_method.pin_removed

-- section: tables

create table {table} (
    realm text collate "C" not null,
    -- The stream of what one person has within the apps of one tenant.
    owner uuid not null,
    -- The key; zero for the PIN.
    method uuid not null,
    account uuid not null,
    client uuid not null,
    kind text collate "C" not null,
    algorithm text collate "C",
    enrolled_at timestamptz not null,
    primary key (realm, owner, method)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    -- Of several things that happened to a method the last one counts.
    with page as (
        select distinct on (e.stream, e.data ->> 'key') e.stream,
            coalesce((e.data ->> 'key')::uuid, '00000000-0000-0000-0000-000000000000') as method,
            e.type, e.data
        from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = any ({types})
        order by e.stream, e.data ->> 'key', e.position desc
    ), gone as (
        delete from {table} m using page p
        where p.type in ('app_method.key_removed', 'app_method.pin_removed') and m.realm = p_realm
            and m.owner = p.stream and m.method = p.method
    )
    insert into {table} as m (
        realm, owner, method, account, client, kind, algorithm, enrolled_at)
    select p_realm, p.stream, p.method, (p.data ->> 'account')::uuid, (p.data ->> 'client')::uuid,
        coalesce(p.data ->> 'method', 'PIN'), p.data ->> 'algorithm',
        to_timestamp(coalesce(p.data ->> 'enrolled_at', p.data ->> 'set_at')::bigint)
    from page p
    where p.type in ('app_method.key_enrolled', 'app_method.pin_set')
    on conflict (realm, owner, method) do update set enrolled_at = excluded.enrolled_at;
end $$;

-- section: finish

create index on {table} (realm, account, client);

-- section: readers

create or replace view urd.app_methods as
    select m.realm, m.owner, m.method, m.account, m.client, m.kind, m.algorithm, m.enrolled_at
    from {table} m;
grant select on urd.app_methods to urd_app, urd_observer;
