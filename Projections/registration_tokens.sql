-- The tokens by which clients register themselves: for whom, for how many, and how many came. No token
-- stands here: it follows from its name under the realm's key.
-- Read by: the admin API, `urd registration-token list`.
--
-- kind: inline
-- types: registration_token.created registration_token.used registration_token.revoked

-- section: tables

create table {table} (
    realm text collate "C" not null,
    token uuid not null,
    label text collate "C" not null,
    uses integer not null,
    used integer not null,
    scope jsonb not null,
    expires_at timestamptz not null,
    created_at timestamptz not null,
    primary key (realm, token)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    insert into {table} (
        realm, token, label, uses, used, scope, expires_at, created_at)
    select p_realm, e.stream, e.data ->> 'label', (e.data ->> 'uses')::integer, 0,
        e.data -> 'scope', to_timestamp((e.data ->> 'expires_at')::bigint), e.at
    from urd.event e
    where e.realm = p_realm and e.position between p_first and p_last
        and e.type = 'registration_token.created';

    update {table} t
        set used = t.used + u.used
        from (
            select e.stream, count(*)::integer as used
            from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type = 'registration_token.used'
            group by e.stream
        ) u
        where t.realm = p_realm and t.token = u.stream;

    delete from {table} t
        using urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = 'registration_token.revoked' and t.realm = p_realm and t.token = e.stream;
end $$;

-- section: finish

-- section: readers

create or replace view urd.registration_tokens as
    select t.realm, t.token, t.label, t.uses, t.used, t.scope, t.expires_at, t.created_at
    from {table} t;
grant select on urd.registration_tokens to urd_app, urd_observer;
