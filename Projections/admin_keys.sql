-- The keys of the admin API: what opens which realms, and what it may do there. They are kept in the realm `system`.
-- Read by: every call of the admin API, `urd admin key`.
--
-- kind: inline
-- types: admin_key.created admin_key.revoked

-- section: tables

create table {table} (
    realm text collate "C" not null,
    key uuid not null,
    name text collate "C" not null,
    -- In base64url.
    digest text collate "C" not null,
    -- Null: every realm.
    realms text[],
    -- Null: everything.
    permissions text[],
    created_at timestamptz not null,
    revoked_at timestamptz,
    version integer not null,
    primary key (realm, key)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    insert into {table} as k (
        realm, key, name, digest, realms, permissions, created_at, version)
    select p_realm, e.stream, e.data ->> 'name', e.data ->> 'digest',
        case when e.data -> 'realms' is not null then
            array(select json_array_elements_text(e.data -> 'realms')) end,
        case when e.data -> 'permissions' is not null then
            array(select json_array_elements_text(e.data -> 'permissions')) end,
        e.at, e.version
    from urd.event e
    where e.realm = p_realm and e.position between p_first and p_last
        and e.type = 'admin_key.created';

    update {table} k
        set (revoked_at, version) = (
            select e.at, e.version from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type = 'admin_key.revoked' and e.stream = k.key
            order by e.position desc limit 1)
        where k.realm = p_realm and k.key = any (array(
            select e.stream from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type = 'admin_key.revoked'));
end $$;

-- section: finish

-- section: readers

create or replace view urd.admin_keys as
    select k.realm, k.key, k.name, k.digest, k.realms, k.permissions, k.created_at, k.revoked_at,
        k.version
    from {table} k;
grant select on urd.admin_keys to urd_app;
grant select (realm, key, name, realms, permissions, created_at, revoked_at, version)
    on urd.admin_keys to urd_observer;
