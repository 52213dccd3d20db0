-- What people let clients know and do, as it is now.
-- Read by: the authorization endpoint, the consent page, the list of connected apps.
--
-- kind: inline
-- types: consent.given consent.withdrawn

-- section: tables

create table {table} (
    realm text collate "C" not null,
    consent uuid not null,
    account uuid not null,
    -- The client's stream and its name.
    client uuid not null,
    client_id text collate "C" not null,
    scope jsonb not null,
    given_at timestamptz not null,
    resources jsonb not null,
    -- What was agreed to by where the client led to.
    places jsonb not null,
    primary key (realm, consent)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    -- Of several things that happened between the two the last one counts.
    with page as (
        select distinct on (e.stream) e.stream, e.type, e.data
        from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = any ({types})
        order by e.stream, e.position desc
    ), gone as (
        delete from {table} c using page p
        where p.type = 'consent.withdrawn' and c.realm = p_realm and c.consent = p.stream
    )
    insert into {table} as c (
        realm, consent, account, client, client_id, scope, given_at, resources, places)
    select p_realm, p.stream, (p.data ->> 'account')::uuid, (p.data ->> 'client')::uuid,
        p.data ->> 'client_id', (p.data -> 'scope')::jsonb,
        to_timestamp((p.data ->> 'given_at')::bigint),
        coalesce((p.data -> 'resources')::jsonb, '[]'), coalesce((p.data -> 'places')::jsonb, '[]')
    from page p
    where p.type = 'consent.given'
    on conflict (realm, consent) do update set
        account = excluded.account, client = excluded.client, client_id = excluded.client_id,
        scope = excluded.scope, given_at = excluded.given_at, resources = excluded.resources,
        places = excluded.places;
end $$;

-- section: finish

create index on {table} (realm, account, consent);

-- section: readers

create or replace view urd.consents as
    select c.realm, c.consent, c.account, c.client, c.client_id, c.scope, c.given_at, c.resources,
        c.places
    from {table} c;
grant select on urd.consents to urd_app, urd_observer;
