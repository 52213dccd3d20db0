-- Each account as it is now: whether its person may sign in, and the stamp that sessions are held
-- against. Nothing of the person is in here.
-- Read by: introspection, user info, the admin API, `urd account`.
--
-- kind: inline
-- types: account.access_removed account.registered account.mailbox_confirmed account.mailbox_changed account.mailbox_moved account.addresses_changed account.disabled account.enabled account.stamp_rotated account.deletion_scheduled account.deletion_cancelled account.deleted

-- section: tables

create table {table} (
    realm text collate "C" not null,
    account uuid not null,
    -- Nulls are only ever in a row that is proposed to an update: the page says nothing there.
    mailbox uuid,
    -- Of its phone number beside a mail address. In a row that is proposed to an update, zeros mean that it
    -- has none any more.
    phone uuid,
    confirmed boolean,
    disabled boolean,
    stamp bigint not null,
    -- How often it moved to another mailbox while sessions stayed: those that rest on a mailbox alone did not.
    moves bigint not null,
    -- By the place from which access was removed (`AccessPlace.name`): the number of the last removal. Sessions
    -- of it that were opened under a lower number are over. Null as long as nothing was removed.
    removed jsonb,
    -- In a row that is proposed to an update, infinity means that it was called off.
    deletion_due timestamptz,
    registered_at timestamptz,
    changed_at timestamptz not null,
    version integer not null,
    primary key (realm, account)
) with (fillfactor = 80);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[]{shard_parameters})
returns void language plpgsql as $$
declare
    v_gone uuid;
begin
    -- An account is registered once, before all else that happens to it.
    if p_types is null or 'account.registered' = any (p_types) then
        insert into {table} (
            realm, account, mailbox, confirmed, disabled, stamp, moves, registered_at, changed_at,
            version)
        select p_realm, e.stream, (e.data ->> 'mailbox')::uuid,
            e.data ->> 'confirmed' is not distinct from 'true', false, 0, 0, e.at, e.at,
            e.version
        from {log} e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = 'account.registered' {shard};
    end if;
    if not p_types && array_remove({types}, 'account.registered') then
        return;
    end if;

    with page as (
        select e.stream,
            -- The time of the last event, not the latest time: clocks of nodes differ, and changes that
            -- are made together are not put on record in the order in which they were asked for.
            max(array[e.version, date_part('epoch', e.at)]) as last,
            max(((1000000000000000000 + e.position)::text || (e.data ->> 'mailbox')) collate "C")
                filter (where e.type in (
                    'account.mailbox_changed', 'account.mailbox_moved', 'account.addresses_changed'))
                as mailbox,
            max(((1000000000000000000 + e.position)::text || coalesce(e.data ->> 'phone', ''))
                collate "C") filter (where e.type = 'account.addresses_changed') as phone,
            -- Whoever moves to a mailbox has proved it; who is given one need not have.
            max(e.position * 2 + (e.type <> 'account.mailbox_changed'
                or e.data ->> 'confirmed' is not distinct from 'true')::integer) filter (
                where e.type in ('account.mailbox_confirmed', 'account.mailbox_changed',
                    'account.mailbox_moved', 'account.addresses_changed'))
                as confirmed,
            max(e.position * 2 + (e.type = 'account.disabled')::integer) filter (
                where e.type in ('account.disabled', 'account.enabled')) as switched,
            max(((1000000000000000000 + e.position)::text || coalesce(e.data ->> 'due', ''))
                collate "C") filter (where e.type in (
                    'account.deletion_scheduled', 'account.deletion_cancelled')) as deletion,
            jsonb_object_agg(
                coalesce(e.data ->> 'client', e.data ->> 'federated_device', concat(
                    case when e.data ->> 'offline' = 'true' then 'offline ' end, e.data ->> 'browser')),
                (e.data ->> 'removals')::bigint order by e.version)
                filter (where e.type = 'account.access_removed') as removed,
            count(*) filter (where e.type in ('account.disabled', 'account.stamp_rotated',
                'account.mailbox_changed', 'account.deletion_scheduled')) as stamps,
            count(*) filter (where e.type = 'account.mailbox_moved') as moves
        from {log} e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = any ({types}) and e.type <> 'account.registered' {shard}
        group by e.stream
    )
    -- As a proposal, which is always a look-up: a join would be free to read all accounts.
    insert into {table} as a (
        realm, account, mailbox, phone, confirmed, disabled, stamp, moves, removed,
        deletion_due, changed_at, version)
    select p_realm, p.stream, right(p.mailbox, -19)::uuid,
        case when length(p.phone) > 19 then right(p.phone, -19)::uuid
            when p.phone is not null then '00000000-0000-0000-0000-000000000000' end,
        p.confirmed % 2 = 1,
        p.switched % 2 = 1, p.stamps, p.moves, p.removed,
        case when length(p.deletion) > 19 then to_timestamp(right(p.deletion, -19)::bigint)
            when p.deletion is not null then 'infinity' end,
        to_timestamp(p.last[2]), p.last[1]
    from page p
    where (
        select true from {table} k where k.realm = p_realm and k.account = p.stream)
    on conflict (realm, account) do update set
        mailbox = coalesce(excluded.mailbox, a.mailbox),
        phone = nullif(
            coalesce(excluded.phone, a.phone), '00000000-0000-0000-0000-000000000000'),
        confirmed = coalesce(excluded.confirmed, a.confirmed),
        disabled = coalesce(excluded.disabled, a.disabled),
        stamp = a.stamp + excluded.stamp,
        moves = a.moves + excluded.moves,
        removed = case when excluded.removed is null then a.removed
            else coalesce(a.removed, '{}') || excluded.removed end,
        deletion_due = nullif(coalesce(excluded.deletion_due, a.deletion_due), 'infinity'),
        changed_at = excluded.changed_at,
        version = excluded.version;

    if p_types is null or 'account.deleted' = any (p_types) then
        for v_gone in
            select e.stream from {log} e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type = 'account.deleted' {shard}
        loop
            delete from {table} x where x.realm = p_realm and x.account = v_gone;
        end loop;
    end if;
end $$;

-- section: finish

-- Not unique: the mailbox's own stream sees to that, and two accounts may change places within a page.
-- Not by the realm first (decision 0081).
create index on {table} (mailbox, realm);
create index on {table} (phone, realm) where phone is not null;

-- section: readers

create or replace view urd.accounts as
    select a.realm, a.account, a.mailbox, a.phone, a.confirmed, a.disabled, a.stamp,
        a.deletion_due, a.registered_at, a.changed_at, a.version, a.moves, a.removed
    from {table} a;
grant select on urd.accounts to urd_app, urd_observer;

-- section: analysts

create or replace view {analyst}.accounts_v1 with (security_barrier) as
    select a.account, a.confirmed, a.disabled, a.mailbox is not null as has_mailbox,
        a.phone is not null as has_second_address, a.deletion_due, a.registered_at, a.changed_at
    from {table} a
    where a.realm = (select {analyst_realm})
    -- What an analyst asks for is looked for in the rows of the realm alone (decision 0160).
    offset 0;
comment on view {analyst}.accounts_v1 is 'Each account {as_it_is}, without anything of its person.';
comment on column {analyst}.accounts_v1.account is 'The account.';
comment on column {analyst}.accounts_v1.confirmed is 'Whether its address is proved.';
comment on column {analyst}.accounts_v1.disabled is 'Whether its person may not sign in.';
comment on column {analyst}.accounts_v1.has_mailbox is 'Whether it has a mail address or a phone number.';
comment on column {analyst}.accounts_v1.has_second_address is 'Whether it has a phone number beside a mail address.';
comment on column {analyst}.accounts_v1.deletion_due is 'When it will be deleted, where that was asked for.';
comment on column {analyst}.accounts_v1.registered_at is 'When it was registered.';
comment on column {analyst}.accounts_v1.changed_at is 'When it last changed.';
grant select on {analyst}.accounts_v1 to urd_analyst;
