-- The invites of a realm: for which app, until when, and which of them were used. No code stands here:
-- it is in the hands of whoever was invited, and nowhere else.
-- Read by: the admin API, `urd invite list`, services that invite people to an app.
--
-- kind: inline
-- types: invite.created invite.used invite.revoked

-- section: tables

create table {table} (
    realm text collate "C" not null,
    invite uuid not null,
    -- Null: for everything in the realm.
    app uuid,
    -- Whom it is for, as a name that only the realm's key leads to. Null: whoever has it.
    mailbox uuid,
    expires_at timestamptz not null,
    created_at timestamptz not null,
    used_at timestamptz,
    primary key (realm, invite)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    insert into {table} (
        realm, invite, app, mailbox, expires_at, created_at)
    select p_realm, e.stream, (e.data ->> 'app')::uuid, (e.data ->> 'mailbox')::uuid,
        to_timestamp((e.data ->> 'expires_at')::bigint), e.at
    from urd.event e
    where e.realm = p_realm and e.position between p_first and p_last
        and e.type = 'invite.created';

    update {table} i
        set used_at = to_timestamp((e.data ->> 'used_at')::bigint)
        from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = 'invite.used' and i.realm = p_realm and i.invite = e.stream;

    delete from {table} i
        using urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = 'invite.revoked' and i.realm = p_realm and i.invite = e.stream;
end $$;

-- section: finish

create index on {table} (realm, app, invite);

-- section: readers

create or replace view urd.invites as
    select i.realm, i.invite, i.app, i.mailbox, i.expires_at, i.created_at, i.used_at
    from {table} i;
grant select on urd.invites to urd_app, urd_observer;
