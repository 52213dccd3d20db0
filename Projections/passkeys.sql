-- Each passkey that can be signed in with: its key, how far its counter is, and whose it is. What its
-- owner calls it is in no row; `named` says which event of its stream has it.
-- Read by: signing in and enrolling with passkeys, an account's list of them.
--
-- kind: inline
-- types: passkey.enrolled passkey.used passkey.renamed passkey.removed

-- section: tables

create table {table} (
    realm text collate "C" not null,
    passkey uuid not null,
    -- Nulls are only ever in a row that is proposed to an update: the page says nothing there.
    account uuid,
    -- What the authenticator calls it, in base 64 for URLs.
    credential text collate "C",
    enrolled jsonb,
    counter bigint,
    enrolled_at timestamptz,
    used_at timestamptz,
    named integer,
    version integer not null,
    primary key (realm, passkey)
) with (fillfactor = 80);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[]{shard_parameters})
returns void language plpgsql as $$
declare
    v_gone uuid;
begin
    if p_types is null or 'passkey.removed' = any (p_types) then
        for v_gone in
            select e.stream from {log} e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type = 'passkey.removed' {shard}
        loop
            delete from {table} x where x.realm = p_realm and x.passkey = v_gone;
        end loop;
    end if;

    with page as (
        select e.stream, max(e.version) as version,
            -- A passkey is enrolled once.
            max(e.data::text) filter (where e.type = 'passkey.enrolled') as enrolled,
            min(e.at) filter (where e.type = 'passkey.enrolled') as enrolled_at,
            -- The last use counts: what an authenticator counts to may stay at zero, and clocks of
            -- nodes differ.
            max(array[e.version, (e.data ->> 'counter')::bigint]) filter (
                where e.type = 'passkey.used') as last_use,
            max(array[e.version, date_part('epoch', e.at)]) filter (
                where e.type = 'passkey.used') as used,
            max(e.version) filter (where e.type = 'passkey.renamed') as named
        from {log} e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = any ({types}) {shard}
        group by e.stream
        having not bool_or(e.type = 'passkey.removed')
    )
    insert into {table} as k (
        realm, passkey, account, credential, enrolled, counter, enrolled_at, used_at, named,
        version)
    select p_realm, p.stream, (p.enrolled::jsonb ->> 'account')::uuid,
        p.enrolled::jsonb ->> 'credential',
        p.enrolled::jsonb - '{account,credential,counter,backed_up,client,enrolled_at,mail}'::text[],
        coalesce(p.last_use[2], (p.enrolled::jsonb ->> 'counter')::bigint),
        p.enrolled_at, to_timestamp(p.used[2]), p.named, p.version
    from page p
    where p.enrolled is not null or (
        select true from {table} x where x.realm = p_realm and x.passkey = p.stream)
    on conflict (realm, passkey) do update set
        counter = coalesce(excluded.counter, k.counter),
        used_at = coalesce(excluded.used_at, k.used_at),
        named = coalesce(excluded.named, k.named),
        version = excluded.version;
end $$;

-- section: finish

-- Not by the realm first (decision 0081).
create unique index on {table} (credential, realm);
create index on {table} (account, realm);

-- section: readers

create or replace view urd.passkeys as
    select k.realm, k.passkey, k.account, k.credential, k.enrolled, k.counter, k.enrolled_at,
        k.used_at, k.named, k.version
    from {table} k;
grant select on urd.passkeys to urd_app, urd_observer;

-- section: analysts

create or replace view {analyst}.passkeys_v1 with (security_barrier) as
    select k.passkey, k.account, k.enrolled_at, k.used_at
    from {table} k
    where k.realm = (select {analyst_realm})
    -- What an analyst asks for is looked for in the rows of the realm alone (decision 0160).
    offset 0;
comment on view {analyst}.passkeys_v1 is
    'The passkeys that can be signed in with. What their owners call them is personal.';
comment on column {analyst}.passkeys_v1.passkey is 'The passkey.';
comment on column {analyst}.passkeys_v1.account is 'Whose it is.';
comment on column {analyst}.passkeys_v1.enrolled_at is 'When it was enrolled.';
comment on column {analyst}.passkeys_v1.used_at is 'When it was last used; null where it never was.';
grant select on {analyst}.passkeys_v1 to urd_analyst;
