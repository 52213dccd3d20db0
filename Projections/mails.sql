-- The mails and messages that are still to be sent, and those that could not be. What a mail says is in no row: it
-- is made when it is sent, from the event that asks for it.
-- Read by: the mailer, `urd mail`.
--
-- kind: following
-- types: otp.issued link.issued account.disabled account.mailbox_changed account.mailbox_moved account.addresses_changed account.stamp_rotated account.deletion_scheduled passkey.enrolled passkey.removed totp.confirmed totp.removed totp.refused passphrase.set passphrase.derived passphrase.removed passphrase.refused mailed_code.issued notification.mailed owner.device_added client.certified passphrase.hint_requested mailed_link.issued owner.invited identity.linked subscription.disabled subscription.failing ssf_stream.status_changed federated_device.signed_in app_method.key_enrolled app_method.pin_set mail.sent mail.deferred mail.failed mail.requeued

-- section: tables

create table {table} (
    realm text collate "C" not null,
    mail uuid not null,
    -- The event that asks for it.
    position bigint not null,
    kind text collate "C" not null,
    -- By what it goes; null by mail.
    channel text collate "C",
    failed boolean not null default false,
    attempts integer not null default 0,
    due_at timestamptz not null,
    -- What the server said last; 0 where it was not reached.
    code integer,
    primary key (realm, mail)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    insert into {table} (realm, mail, position, kind, channel, due_at)
        select p_realm, coalesce(e.data ->> 'mail', e.data ->> 'otp')::uuid, e.position, e.type,
            e.data ->> 'channel', e.at
        from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = any ({types}) and e.type not like 'mail.%'
            -- Not everybody can be told.
            and (e.type = 'otp.issued' or e.data ->> 'mail' is not null)
            -- Most are sent within the page that asks for them.
            and (
                select true from urd.event s
                where s.realm = p_realm and s.type = 'mail.sent' and s.position <= p_last
                    and s.stream = coalesce(e.data ->> 'mail', e.data ->> 'otp')::uuid
                limit 1) is null;

    -- Of several things that happened to a mail the last one counts.
    update {table} m
        set failed = l.type = 'mail.failed',
            attempts = coalesce((l.data ->> 'attempt')::integer, 0),
            code = (l.data ->> 'code')::integer,
            due_at = coalesce(to_timestamp((l.data ->> 'until')::bigint), l.at)
        from (
            select distinct on (e.stream) e.stream, e.type, e.data, e.at
            from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type in ('mail.deferred', 'mail.failed', 'mail.requeued')
            order by e.stream, e.position desc
        ) l
        where m.realm = p_realm and m.mail = l.stream;

    -- As a list: a join would be free to read all mails.
    delete from {table} m
        where m.realm = p_realm and m.mail = any (array(
            select e.stream from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type = 'mail.sent'));
end $$;

-- section: finish

create index on {table} (due_at) where not failed;
create index on {table} (due_at) where not failed and channel is not null;
create index on {table} (realm, mail) where failed;

-- section: readers

create or replace view urd.mails as
    select m.realm, m.mail, m.position, m.kind, m.failed, m.attempts, m.due_at, m.code,
        m.channel
    from {table} m;
grant select on urd.mails to urd_app, urd_observer;
