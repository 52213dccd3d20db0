-- Whom and what each event is about: the account, session, browser session and client, and of sign-ins
-- the network and the kind of device. What ends, refreshes or uses a thing does not name its account: that
-- stands in the event that began the stream, or in an earlier one. docs/event-index.md has the table. Ids
-- are pseudonyms: nothing here is personal.
-- Read by: the admin API, analysts.
--
-- kind: following

-- section: tables

-- One row for each event, and more where it names several accounts or clients.
create table {table} (
    realm text collate "C" not null,
    position bigint not null,
    ordinal smallint not null,
    account uuid,
    session uuid,
    -- A session of the realm's own pages.
    browser uuid,
    client uuid,
    -- A pseudonym of the network.
    source text collate "C",
    -- A kind of device.
    device text collate "C",
    primary key (realm, position, ordinal)
);

-- Whose a thing is that later events name, or whose stream they are in: a mailbox, a realm's owner, a code,
-- a mail, a notice. Of several rows the newest one holds; without an account it is nobody's.
create table {table}_holder (
    realm text collate "C" not null,
    thing uuid not null,
    position bigint not null,
    account uuid,
    session uuid,
    client uuid,
    primary key (realm, thing, position)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
declare
    -- Their stream's first event says whose they are.
    v_begun constant text[] := '{
        browser.ended, device.approved, device.denied, device.redeemed, mailed_code.redeemed,
        mailed_code.refused, mailed_link.used, notification.deferred, notification.failed,
        notification.pushed, notification.requeued, notification.superseded, passkey.used,
        passphrase.refused, passphrase.used, recovery_code.used, recovery_codes.renewed,
        session.detached, session.ended, session.refreshed, session_code.used, totp.refused, totp.used,
        upstream_session.ended}';
    -- An earlier event says whose they are.
    v_held constant text[] := '{
        device.redeemed, link.redeemed, mailbox.invited, otp.confirmed, otp.issued, otp.redeemed,
        otp.refused,
        otp.renamed, owner.browser_trusted, owner.device_removed, owner.mailbox_vouched,
        owner.mailed_codes_changed, owner.move_ended, owner.move_requested, owner.onboarded,
        owner.terms_signed}';
    -- They say so.
    v_holding constant text[] := '{
        device.approved, link.issued, mailbox.assigned, mailbox.released, otp.issued,
        owner.appointed}';
    -- They name a mail or a notice, which has a stream of its own.
    v_letters constant text[] := '{
        account.deletion_scheduled, account.disabled, account.mailbox_changed,
        account.mailbox_moved, account.addresses_changed, account.stamp_rotated, client.certified,
        federated_device.signed_in, identity.linked,
        link.issued, mailed_code.issued, mailed_link.issued, notification.mailed, otp.issued,
        owner.device_added, owner.invited, passkey.enrolled, passkey.removed,
        passphrase.derived, passphrase.hint_requested, passphrase.refused, passphrase.removed,
        passphrase.set, session.detached, session.ended, totp.confirmed, totp.refused, totp.removed}';
begin
    if p_types is null or p_types && v_holding then
        insert into {table}_holder (realm, thing, position, account)
        select p_realm, t.thing, e.position,
            case when e.type <> 'mailbox.released' then (e.data ->> 'account')::uuid end
        from urd.event e
        cross join lateral (
            select case e.type when 'otp.issued' then (e.data ->> 'otp')::uuid
                when 'link.issued' then (e.data ->> 'link')::uuid else e.stream end as thing
        ) t
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = any (v_holding) and t.thing is not null
            and (e.type <> 'otp.issued' or e.data ->> 'account' is not null);
    end if;

    if p_types is null or p_types && '{otp.issued}' then
        -- Without an account it is for the mailbox's holder, who is known by now: what comes later in the
        -- same page finds it as what comes in the next one does.
        insert into {table}_holder (realm, thing, position, account)
        select p_realm, (e.data ->> 'otp')::uuid, e.position,
            (select h.account from {table}_holder h
                where h.realm = p_realm and h.thing = e.stream and h.position < e.position
                order by h.position desc limit 1)
        from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = 'otp.issued' and e.data ->> 'otp' is not null
            and e.data ->> 'account' is null;
    end if;

    insert into {table} (
        realm, position, ordinal, account, session, browser, client, source, device)
    select p_realm, e.position, coalesce(several.ordinal, 0), about.*
    from urd.event e
    -- Read once, and only where there is something to read.
    cross join lateral json_to_record(case
        when e.type = 'session.refreshed'
            or e.type like 'account.%' and e.type <> 'account.access_removed'
            or e.type like 'client.%' and e.type <> 'client.certified' then '{}'
        else e.data end) as d (
            account uuid, accounts json, browser text, client uuid, clients json, session uuid,
            source text, device text, otp uuid, link uuid, subject text, subjects json)
    -- One by one, which the limit sees to: a join would be free to read the whole log.
    left join lateral (
        select b.data from urd.event b
        where b.realm = p_realm and b.stream = e.stream and b.version = 1
            and e.type = any (v_begun)
        limit 1
    ) b on true
    left join lateral json_to_record(b.data) as first (account uuid, client uuid) on true
    left join lateral (
        select b.stream, b.type from urd.event b
        where b.realm = p_realm and b.version = 1 and b.stream =
            case when e.type = 'realm.subject_erased' then d.subject::uuid end
        limit 1
    ) erased on true
    left join lateral (
        select l.id::uuid as id, (l.ordinal - 1)::smallint as ordinal
        from json_array_elements_text(case e.type
            when 'personal_data.opened' then d.accounts
            when 'personal_data.streamed' then d.subjects
            when 'notification.pushed' then d.clients end)
            with ordinality as l (id, ordinal)
    ) several on true
    cross join lateral (
        select
            case
                when e.type like 'account.%' then e.stream
                when e.type like 'personal_data.%' then several.id
                when erased.type = 'account.registered' then erased.stream
                when e.type <> all (v_held) then coalesce(d.account, first.account)
                else coalesce(
                    d.account,
                    (select h.account from {table}_holder h
                        where h.realm = p_realm and h.thing = coalesce(d.otp, d.link)
                            and h.position < e.position
                        order by h.position desc limit 1),
                    (select h.account from {table}_holder h
                        where h.realm = p_realm and h.thing = e.stream
                            and h.position < e.position
                        order by h.position desc limit 1)) end,
            case
                when e.type in (
                    'session.opened', 'session.refreshed', 'session.detached', 'session.ended')
                    then e.stream
                when e.type in (
                    'token_claims.set', 'federated_device.asserted', 'federated_device.signed_in',
                    'federated_assertion.issued', 'federated_assertion.redeemed')
                    then d.session
                when e.type = 'upstream_session.used' and d.browser = 'false' then d.session end,
            case
                when e.type in ('browser.opened', 'browser.ended') then e.stream
                when e.type = 'upstream_session.used' and d.browser = 'true' then d.session
                when e.type in (
                    'session.opened', 'session_code.used', 'connection.begun', 'account.access_removed')
                    then d.browser::uuid end,
            case
                when e.type like 'client.%' then e.stream
                when e.type = 'notification.pushed' then several.id
                when erased.type = 'client.registered' then erased.stream
                -- A passkey is not its client's.
                when e.type = 'passkey.used' then null
                else coalesce(d.client, first.client) end,
            case when e.type like 'session.%' or e.type like 'browser.%' then d.source end,
            case when e.type like 'session.%' or e.type like 'browser.%' then d.device end
        -- So that it is found once, and not once more for the condition.
        offset 0
    ) about (account, session, browser, client, source, device)
    where e.realm = p_realm and e.position between p_first and p_last
        and e.type not like 'mail.%'
        and e.type not like 'logout\_notice.%'
        and num_nonnulls(about.account, about.session, about.browser, about.client) > 0;

    if p_types is null or p_types && v_letters then
        insert into {table}_holder (
            realm, thing, position, account, session, client)
        select p_realm, l.thing, e.position, i.account, i.session, i.client
        from urd.event e
        cross join lateral (
            select coalesce(e.data ->> 'mail', e.data ->> 'otp', e.data ->> 'notice')::uuid
                as thing
        ) l
        cross join lateral (
            select x.account, x.session, x.client from {table} x
            where x.realm = p_realm and x.position = e.position and x.ordinal = 0
            limit 1
        ) i
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = any (v_letters) and l.thing is not null
        on conflict do nothing;
    end if;

    if p_types is null or p_types && '{
        mail.begun, mail.deferred, mail.delivered, mail.failed, mail.requeued, mail.sent,
        mail.undelivered, logout_notice.deferred,
        logout_notice.delivered, logout_notice.failed}' then
        insert into {table} (
            realm, position, ordinal, account, session, client)
        select p_realm, e.position, 0, h.account,
            case when e.type not like 'mail.%' then h.session end,
            case when e.type not like 'mail.%' then h.client end
        from urd.event e
        cross join lateral (
            select x.account, x.session, x.client from {table}_holder x
            where x.realm = p_realm and x.thing = e.stream and x.position < e.position
            order by x.position desc limit 1
        ) h
        where e.realm = p_realm and e.position between p_first and p_last
            and (e.type like 'mail.%' or e.type like 'logout\_notice.%')
            and num_nonnulls(h.account, h.session, h.client) > 0;
    end if;
end $$;

-- section: finish

-- The events of one of them in the order of the log. The realm stands behind: see decision 0081.
create index on {table} (account, realm, position) where account is not null;
create index on {table} (session, realm, position) where session is not null;
create index on {table} (browser, realm, position) where browser is not null;
create index on {table} (client, realm, position) where client is not null;
create index on {table} (source, realm, position) where source is not null;
create index on {table} (device, realm, position) where device is not null;

-- section: readers

create or replace view urd.event_index as
    select i.realm, i.position, i.ordinal, i.account, i.session, i.browser, i.client, i.source,
        i.device
    from {table} i;
grant select on urd.event_index to urd_app, urd_observer;
