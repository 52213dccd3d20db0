-- The OAuth clients of a realm as they are now, with what a decision about one needs: metadata,
-- the digest of the secret, and whether the client may be used.
-- Read by: the OAuth endpoints, the admin API, `urd client`.
--
-- kind: inline
-- types: client.registered client.updated client.secret_rotated client.disabled client.enabled client.deleted

-- section: tables

create table {table} (
    realm text collate "C" not null,
    client uuid not null,
    -- Nulls are only ever in a row that is proposed to an update: the page says nothing there.
    client_id text collate "C",
    -- The open fields of the last event that had them all, byte for byte.
    metadata text collate "C",
    -- In base64url. Empty: there is none, or it was taken away.
    secret_digest text collate "C",
    disabled boolean,
    registered_at timestamptz,
    changed_at timestamptz not null,
    version integer not null,
    primary key (realm, client)
) with (
    -- A young client is changed often: with room on its page the indexes need not hear of it.
    fillfactor = 60
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[]{shard_parameters})
returns void language plpgsql as $$
declare
    v_gone uuid;
begin
    if p_types is null or 'client.deleted' = any (p_types) then
        for v_gone in
            select e.stream from {log} e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type = 'client.deleted' {shard}
        loop
            delete from {table} x where x.realm = p_realm and x.client = v_gone;
        end loop;
    end if;

    -- One pass over the page, and no second look at the log: what is newest on each matter travels
    -- behind its position, which has the same length everywhere.
    with page as (
        select e.stream,
            -- The time of the last event, not the latest time: clocks of nodes differ, and changes that
            -- are made together are not put on record in the order in which they were asked for.
            max(array[e.version, date_part('epoch', e.at)]) as last,
            min(e.at) filter (where e.type = 'client.registered') as registered_at,
            max((e.data ->> 'client_id') collate "C") filter (
                where e.type = 'client.registered') as client_id,
            max(((1000000000000000000 + e.position)::text || e.data::text) collate "C") filter (
                where e.type in ('client.registered', 'client.updated')) as metadata,
            max(((1000000000000000000 + e.position)::text || case e.type
                when 'client.updated' then ''
                else coalesce(e.data ->> 'secret_digest', '') end) collate "C") filter (
                where case e.type
                    when 'client.registered' then true
                    when 'client.secret_rotated' then true
                    -- A client that does not authenticate by a secret has none any more. Looking
                    -- for the text spares the parser, where no inner object could hold it too.
                    when 'client.updated' then
                        e.data::text not like
                            '%"token\_endpoint\_auth\_method":"client\_secret\_%'
                        or e.data::text like '{%{%' and e.data ->> 'token_endpoint_auth_method'
                            not in ('client_secret_basic', 'client_secret_post')
                    end) as secret_digest,
            max(e.position * 2 + (e.type = 'client.disabled')::integer) filter (
                where e.type in ('client.disabled', 'client.enabled')) as switched
        from {log} e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = any ({types}) {shard}
        group by e.stream
        having not bool_or(e.type = 'client.deleted')
    )
    insert into {table} as c (
        realm, client, client_id, metadata, secret_digest, disabled, registered_at, changed_at,
        version)
    select p_realm, p.stream, p.client_id, right(p.metadata, -19), right(p.secret_digest, -19),
        coalesce(p.switched % 2 = 1, case when p.client_id is not null then false end),
        p.registered_at, to_timestamp(p.last[2]), p.last[1]
    from page p
    where p.client_id is not null or (
        select true from {table} k where k.realm = p_realm and k.client = p.stream)
    on conflict (realm, client) do update set
        metadata = coalesce(excluded.metadata, c.metadata),
        secret_digest = coalesce(excluded.secret_digest, c.secret_digest),
        disabled = coalesce(excluded.disabled, c.disabled),
        changed_at = excluded.changed_at,
        version = excluded.version;
end $$;

-- section: finish

create unique index on {table} (realm, client_id);

-- Those that are to hear when a session ends.
create index on {table} (realm, client)
    where metadata like '%"backchannel_logout_uri":%';

-- section: readers

create or replace view urd.clients as
    select c.realm, c.client, c.client_id,
        c.metadata::jsonb - array['client_id', 'secret_digest'] as metadata,
        nullif(c.secret_digest, '') as secret_digest, c.disabled, c.registered_at, c.changed_at,
        c.version, c.metadata like '%"backchannel_logout_uri":%' as hears_logout
    from {table} c;
grant select on urd.clients to urd_app;
grant select (realm, client, client_id, metadata, disabled, registered_at, changed_at, version)
    on urd.clients to urd_observer;

-- section: analysts

create or replace view {analyst}.clients_v1 with (security_barrier) as
    select c.client, c.client_id, c.metadata::jsonb ->> 'client_name' as name, c.disabled, c.registered_at,
        c.changed_at
    from {table} c
    where c.realm = (select {analyst_realm})
    -- What an analyst asks for is looked for in the rows of the realm alone (decision 0160).
    offset 0;
comment on view {analyst}.clients_v1 is 'The OAuth clients as they are now.';
comment on column {analyst}.clients_v1.client is 'The client.';
comment on column {analyst}.clients_v1.client_id is 'What it calls itself in requests.';
comment on column {analyst}.clients_v1.name is 'Its name for people.';
comment on column {analyst}.clients_v1.disabled is 'Whether it may not be used.';
comment on column {analyst}.clients_v1.registered_at is 'When it was registered.';
comment on column {analyst}.clients_v1.changed_at is 'When it last changed.';
grant select on {analyst}.clients_v1 to urd_analyst;
