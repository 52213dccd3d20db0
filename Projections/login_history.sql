-- Who signed in or tried to, when, through what and how it went: one row for each attempt of a person,
-- with how the session ended that came of it. Where from and on what is there as a pseudonym and a kind;
-- the address itself is sealed in the event at the row's position. What clients do for themselves is no
-- sign-in of anybody.
-- Read by: the admin API, `urd history`, analysts.
--
-- kind: following
-- types: session.opened session.refused session.ended account.disabled account.stamp_rotated account.mailbox_changed account.deletion_scheduled account.deleted

-- section: tables

create table urd.login_history_{build} (
    realm text collate "C" not null,
    position bigint not null,
    at timestamptz not null,
    account uuid,
    app uuid,
    client uuid not null,
    client_id text collate "C" not null,
    method text collate "C",
    outcome text collate "C" not null,
    -- Why it was refused.
    reason text collate "C",
    session uuid,
    source text collate "C",
    device text collate "C",
    -- Null as long as the session lasts, and where it just runs out.
    ended_at timestamptz,
    end_reason text collate "C",
    primary key (realm, position)
);

-- The page itself looks these two up.
create index on urd.login_history_{build} (realm, session) where session is not null;
create index on urd.login_history_{build} (realm, account)
    where session is not null and ended_at is null;

-- section: apply

create function urd.login_history_{build}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    insert into urd.login_history_{build} (
        realm, position, at, account, app, client, client_id, method, outcome, reason, session,
        source, device)
    select p_realm, e.position, e.at, (e.data ->> 'account')::uuid, (e.data ->> 'app')::uuid,
        (e.data ->> 'client')::uuid, e.data ->> 'client_id', e.data ->> 'method',
        case e.type when 'session.opened' then 'signed_in' else 'refused' end,
        e.data ->> 'reason', case e.type when 'session.opened' then e.stream end,
        e.data ->> 'source', e.data ->> 'device'
    from urd.event e
    where e.realm = p_realm and e.position between p_first and p_last
        and (e.type = 'session.opened' and e.data ->> 'account' is not null
            or e.type = 'session.refused');

    -- A session ends once: by itself, or with all others that its account had by then.
    update urd.login_history_{build} h
        set ended_at = f.at, end_reason = f.reason
        from (
            select distinct on (x.position) x.position, x.at, x.reason
            from (
                select o.position, e.position as ended, e.at, e.data ->> 'reason' as reason
                from urd.event e
                join urd.login_history_{build} o
                    on o.realm = p_realm and o.session = e.stream and o.ended_at is null
                where e.realm = p_realm and e.position between p_first and p_last
                    and e.type = 'session.ended'
                union all
                select o.position, e.position, e.at, case e.type
                    when 'account.disabled' then 'disabled'
                    when 'account.stamp_rotated' then 'signed_out_everywhere'
                    when 'account.mailbox_changed' then 'mailbox_changed'
                    else 'deleted' end
                from urd.event e
                join urd.login_history_{build} o
                    on o.realm = p_realm and o.account = e.stream and o.session is not null
                        and o.ended_at is null and o.position < e.position
                where e.realm = p_realm and e.position between p_first and p_last
                    and e.type in ('account.disabled', 'account.stamp_rotated',
                        'account.mailbox_changed', 'account.deletion_scheduled',
                        'account.deleted')
            ) x
            order by x.position, x.ended
        ) f
        where h.realm = p_realm and h.position = f.position;
end $$;

-- section: finish

-- Each question with its own order: newest first, from a moment on.
create index on urd.login_history_{build} (realm, at, position);
create index on urd.login_history_{build} (realm, account, at, position)
    where account is not null;
create index on urd.login_history_{build} (realm, client_id, at, position);
create index on urd.login_history_{build} (realm, at, position) where outcome = 'refused';
create index on urd.login_history_{build} (realm, client_id, at, position)
    where outcome = 'refused';

-- section: readers

create or replace view urd.login_history as
    select h.realm, h.position, h.at, h.account, h.app, h.client, h.client_id, h.method,
        h.outcome, h.reason, h.session, h.source, h.device, h.ended_at, h.end_reason
    from urd.login_history_{build} h;
grant select on urd.login_history to urd_app, urd_observer;
