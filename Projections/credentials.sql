-- Each thing that somebody can show to sign in, or could: of what kind, whose, since when, when it was last used and when it was removed. No
-- key, digest, secret or name is in here.
-- Read by: analysts.
--
-- kind: following
-- types: passkey.enrolled passkey.used passkey.removed passphrase.set passphrase.derived passphrase.imported passphrase.removed totp.confirmed totp.used totp.removed recovery_codes.renewed recovery_code.used identity.linked identity.unlinked app_method.key_enrolled app_method.key_removed app_method.pin_set app_method.pin_used app_method.pin_removed approval.answered approval.given browser.opened session.opened account.deleted

-- section: tables

create table {table} (
    realm text collate "C" not null,
    kind text collate "C" not null,
    -- The key of an app; of all else the stream that it has.
    credential uuid not null,
    -- Nulls are only ever in a row that is proposed to an update: the page says nothing there.
    account uuid,
    client uuid,
    provider text collate "C",
    -- Where it began: what was used before is another one.
    begun bigint,
    created_at timestamptz,
    used_at timestamptz,
    removed_at timestamptz,
    primary key (realm, kind, credential)
) with (fillfactor = 80);

-- The page itself looks rows of an account up.
create index on {table} (account, realm);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
declare
    v_sign_in record;
begin
    -- Most pages are sign-ins alone.
    if p_types is null or not p_types <@ '{browser.opened,session.opened,account.deleted}' then
        with said as (
            -- What each event says of which credential. Setting up an authenticator app begins two.
            select e.position, e.at, e.data, w.kind, w.what,
                case when w.kind = 'app_key' then (e.data ->> 'key')::uuid else e.stream end as credential
            from {log} e join (values
                ('passkey.enrolled', 'passkey', 'begun'), ('passkey.used', 'passkey', 'used'),
                ('passkey.removed', 'passkey', 'gone'),
                ('passphrase.set', 'passphrase', 'begun'), ('passphrase.imported', 'passphrase', 'begun'),
                ('passphrase.derived', 'passphrase', 'begun'),
                ('passphrase.removed', 'passphrase', 'gone'),
                ('totp.confirmed', 'authenticator_app', 'begun'), ('totp.used', 'authenticator_app', 'used'),
                ('totp.removed', 'authenticator_app', 'gone'),
                ('totp.confirmed', 'recovery_codes', 'begun'),
                ('recovery_codes.renewed', 'recovery_codes', 'renewed'),
                ('recovery_code.used', 'recovery_codes', 'used'),
                ('totp.removed', 'recovery_codes', 'gone'),
                ('identity.linked', 'provider', 'begun'), ('identity.unlinked', 'provider', 'gone'),
                ('app_method.key_enrolled', 'app_key', 'begun'),
                ('app_method.key_removed', 'app_key', 'gone'),
                ('approval.answered', 'app_key', 'used'), ('approval.given', 'app_key', 'used'),
                ('app_method.pin_set', 'app_pin', 'begun'), ('app_method.pin_used', 'app_pin', 'used'),
                ('app_method.pin_removed', 'app_pin', 'gone')) as w (type, kind, what) on w.type = e.type
            where e.realm = p_realm and e.position between p_first and p_last
                and (e.type not in ('approval.answered', 'approval.given') or e.data -> 'key' is not null)
                and (e.type <> 'approval.answered' or e.data ->> 'approved' is distinct from 'false')
        ), page as (
            select s.kind, s.credential,
                max(s.position) filter (where s.what in ('begun', 'renewed')) as begun,
                max(s.position) filter (where s.what = 'used') as used,
                max(s.position) filter (where s.what = 'gone') as gone,
                -- Whose it is says the event that it began with.
                (array_agg(s.data order by s.position desc) filter (where s.what = 'begun'))[1] as data
            from said s
            group by s.kind, s.credential
        )
        insert into {table} as c (
            realm, kind, credential, account, client, provider, begun, created_at, used_at, removed_at)
        select p_realm, p.kind, p.credential, (p.data ->> 'account')::uuid, (p.data ->> 'client')::uuid,
            p.data ->> 'provider', p.begun,
            (select e.at from {log} e where e.realm = p_realm and e.position = p.begun),
            case when p.used > coalesce(p.begun, 0) then
                (select e.at from {log} e where e.realm = p_realm and e.position = p.used) end,
            case when p.gone > coalesce(p.begun, 0) then
                (select e.at from {log} e where e.realm = p_realm and e.position = p.gone) end
        from page p
        where p.begun is not null or (
            select true from {table} k
            where k.realm = p_realm and k.kind = p.kind and k.credential = p.credential)
        on conflict (realm, kind, credential) do update set
            account = coalesce(excluded.account, c.account),
            client = coalesce(excluded.client, c.client),
            provider = coalesce(excluded.provider, c.provider),
            begun = coalesce(excluded.begun, c.begun),
            created_at = coalesce(excluded.created_at, c.created_at),
            used_at = case when excluded.begun is not null then excluded.used_at
                else coalesce(excluded.used_at, c.used_at) end,
            removed_at = case when excluded.begun is not null then excluded.removed_at
                else coalesce(excluded.removed_at, c.removed_at) end;
    end if;

    if p_types is not null and not p_types && '{browser.opened,session.opened,account.deleted}' then
        return;
    end if;
    -- That a passphrase was right is on record as the sign-in. One by one: a join would be free to read all
    -- credentials.
    for v_sign_in in
        select e.type, e.stream, e.position, e.at, e.data ->> 'account' as account
        from {log} e
        where e.realm = p_realm and e.position between p_first and p_last
            and (e.type = 'account.deleted' or e.type in ('browser.opened', 'session.opened')
                -- What has no passphrase is seen without being read.
                and e.data::text like '%"pwd"%'
                and e.data -> 'browser' is null and e.data -> 'exchanged' is null
                and e.data -> 'assertion_issuer' is null)
        order by e.position
    loop
        if v_sign_in.type = 'account.deleted' then
            update {table} c set removed_at = v_sign_in.at
                where c.realm = p_realm and c.account = v_sign_in.stream and c.removed_at is null
                    and c.begun < v_sign_in.position;
        else
            update {table} c set used_at = v_sign_in.at
                where c.realm = p_realm and c.account = v_sign_in.account::uuid
                    and c.kind = 'passphrase' and c.begun < v_sign_in.position;
        end if;
    end loop;
end $$;

-- section: finish

-- section: readers

create or replace view urd.credentials as
    select c.realm, c.kind, c.credential, c.account, c.client, c.provider, c.created_at, c.used_at,
        c.removed_at
    from {table} c;
grant select on urd.credentials to urd_app, urd_observer;

-- section: analysts

create or replace view {analyst}.credentials_v1 with (security_barrier) as
    select c.kind, c.credential, c.account, c.client, c.provider, c.created_at, c.used_at,
        c.removed_at
    from {table} c
    where c.realm = (select {analyst_realm})
    -- What an analyst asks for is looked for in the rows of the realm alone (decision 0160).
    offset 0;
comment on view {analyst}.credentials_v1 is
    'Each thing that somebody can show to sign in, or could, without keys, secrets and names.';
comment on column {analyst}.credentials_v1.kind is
    'passkey, passphrase, authenticator_app, recovery_codes, provider (an account there), app_key or app_pin (of a tenant''s app).';
comment on column {analyst}.credentials_v1.credential is
    'The credential. That of a passkey is the one in passkeys_v1.';
comment on column {analyst}.credentials_v1.account is 'Whose it is; null where the log does not say.';
comment on column {analyst}.credentials_v1.client is
    'The client that a passkey was enrolled by, or the tenant whose app it is for.';
comment on column {analyst}.credentials_v1.provider is 'The provider whose account it is.';
comment on column {analyst}.credentials_v1.created_at is
    'When it was set up; of a passphrase, a PIN or codes that were replaced, the newest.';
comment on column {analyst}.credentials_v1.used_at is
    'When it was last used; null where it never was, and of providers.';
comment on column {analyst}.credentials_v1.removed_at is
    'When it was removed, by itself or with its account; null where it was not.';
grant select on {analyst}.credentials_v1 to urd_analyst;
