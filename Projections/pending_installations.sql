-- Apps on devices that registered themselves and that nobody has let in so far: an hour later they are
-- nobody, and are removed.
-- Read by: the service that removes them.
--
-- kind: following
-- types: client.registered client.adopted client.deleted

-- section: tables

create table {table} (
    realm text collate "C" not null,
    client uuid not null,
    registered_at timestamptz not null,
    primary key (realm, client)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    insert into {table} (realm, client, registered_at)
        select p_realm, e.stream, e.at
        from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = 'client.registered'
            and e.data -> 'grant_types' ->> 0 = 'urn:urd:flagship';

    -- As a list: a join would be free to read all of them.
    delete from {table} i
        where i.realm = p_realm and i.client = any (array(
            select e.stream from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type in ('client.adopted', 'client.deleted')));
end $$;

-- section: finish

create index on {table} (registered_at);

-- section: readers

create or replace view urd.pending_installations as
    select i.realm, i.client, i.registered_at from {table} i;
grant select on urd.pending_installations to urd_app, urd_observer;
