-- Who signed in or tried to, when, through what and how it went: one row for each attempt of a person,
-- with how the session ended that came of it; and one for each refresh token or code that came once more
-- and ended a session. Where from and on what is there as a pseudonym and a kind; the address itself is
-- sealed in the event at the row's position. What clients do for themselves is no sign-in of anybody: only
-- who said to be a client and did not show it has a row.
-- Read by: the admin API, `urd history`, analysts.
--
-- kind: following
-- types: session.opened session.refused session.ended browser.opened browser.refused browser.ended account.access_removed account.disabled account.stamp_rotated account.mailbox_changed account.mailbox_moved account.deletion_scheduled account.deleted

-- section: tables

create table {table} (
    realm text collate "C" not null,
    position bigint not null,
    at timestamptz not null,
    account uuid,
    app uuid,
    -- Null: on a page.
    client uuid,
    client_id text collate "C",
    method text collate "C",
    outcome text collate "C" not null,
    -- Why it was refused.
    reason text collate "C",
    session uuid,
    source text collate "C",
    device text collate "C",
    -- By what a code came, if to a phone.
    channel text collate "C",
    -- Where the network is, as it was looked up then; null where it was not.
    country text collate "C",
    asn bigint,
    area text collate "C",
    -- Null as long as the session lasts, and where it just runs out.
    ended_at timestamptz,
    end_reason text collate "C",
    primary key (realm, at, position)
);

-- Analysts compare these with what they choose: nothing is gathered of them in all realms (decision 0160). How common a
-- client and an outcome are, the lists are planned by: analysts have those behind `least`.
alter table {table}
    alter column at set statistics 0, alter column position set statistics 0,
    alter column account set statistics 0;

-- The page itself looks rows of an account up.
create index on {table} (realm, account, at, position)
    where account is not null;

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
declare
    v_end record;
    v_begin record;
    v_ends text[] := array[
        'session.ended', 'browser.ended', 'account.access_removed', 'account.disabled',
        'account.stamp_rotated', 'account.mailbox_changed', 'account.mailbox_moved',
        'account.deletion_scheduled', 'account.deleted'];
begin
    if p_types is null or p_types &&
        '{session.opened,session.refused,browser.opened,browser.refused}' then
        insert into {table} (
            realm, position, at, account, app, client, client_id, method, outcome, reason, session,
            source, device, channel, country, asn, area)
        select p_realm, e.position, e.at, d.account, d.app, d.client, d.client_id, d.method,
            case when e.type in ('session.opened', 'browser.opened') then 'signed_in'
                else 'refused' end,
            d.reason,
            case when e.type in ('session.opened', 'browser.opened') then e.stream end,
            d.source, d.device, d.channel, d.country, d.asn, d.area
        -- Read once: each look at JSON that is a text reads all of it.
        from {log} e cross join lateral json_to_record(e.data) as d (
            account uuid, app uuid, client uuid, client_id text, method text, reason text,
            source text, device text, channel text, country text, asn bigint, area text)
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type in ('session.opened', 'session.refused', 'browser.opened', 'browser.refused')
            -- What names no account is seen without being read.
            and (e.type <> 'session.opened' or e.data::text like '%"account":%')
            -- Nobody signs in where a token is exchanged for another.
            and coalesce(d.method, '') <> 'urn:ietf:params:oauth:grant-type:token-exchange'
            and (e.type <> 'session.opened' or d.account is not null);
    end if;

    -- A session ends once: by itself, or with all others that its account had by then. One by one, for
    -- a join would have the planner read the whole history for a page of it.
    if not p_types && v_ends then
        return;
    end if;
    for v_end in
        select e.stream, e.position, e.at, e.type, e.data, e.data ->> 'reason' as reason
        from {log} e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = any (v_ends)
        order by e.position
    loop
        if v_end.type in ('session.ended', 'browser.ended') then
            -- A session begins its stream: the log knows where.
            select e.at, e.position, e.data into v_begin from {log} e
                where e.realm = p_realm and e.stream = v_end.stream and e.version = 1;
            update {table} h
                set ended_at = v_end.at, end_reason = v_end.reason
                where h.realm = p_realm and h.at = v_begin.at and h.position = v_begin.position
                    and h.session = v_end.stream and h.ended_at is null;
            -- What had ended it came from its client or from a thief.
            if v_end.reason in ('reuse', 'code_reuse') then
                insert into {table} (
                    realm, position, at, account, app, client, client_id, method, outcome, reason,
                    source, device, country, asn, area)
                select p_realm, v_end.position, v_end.at, d.account, d.app, d.client, d.client_id,
                    case v_end.reason when 'reuse' then 'refresh_token' else d.method end,
                    'refused', v_end.reason, v_end.data ->> 'source', v_end.data ->> 'device',
                    v_end.data ->> 'country', (v_end.data ->> 'asn')::bigint, v_end.data ->> 'area'
                from json_to_record(v_begin.data) as d (
                    account uuid, app uuid, client uuid, client_id text, method text)
                where d.account is not null;
            end if;
        elsif v_end.type = 'account.access_removed' then
            -- Of what the account had at the client, or by then on the device or of the browser, as the session's
            -- first event says.
            update {table} h
                set ended_at = v_end.at, end_reason = case
                    when v_end.data ->> 'client' is not null then 'withdrawn'
                    when v_end.data ->> 'browser' is not null then 'logged_out' else 'revoked' end
                where h.realm = p_realm and h.account = v_end.stream and h.session is not null
                    and h.ended_at is null and h.position < v_end.position
                    and (h.client = (v_end.data ->> 'client')::uuid
                        or v_end.data ->> 'client' is null and exists (
                            select from {log} o
                            where o.realm = p_realm and o.position = h.position
                                and (o.data ->> 'federated_device' = v_end.data ->> 'federated_device'
                                    or o.data ->> 'browser' = v_end.data ->> 'browser'
                                        and (o.data ->> 'offline' = 'true')
                                            = (v_end.data ->> 'offline' is not null))));
        else
            update {table} h
                set ended_at = v_end.at, end_reason = case v_end.type
                    when 'account.disabled' then 'disabled'
                    when 'account.stamp_rotated' then 'signed_out_everywhere'
                    when 'account.mailbox_changed' then 'mailbox_changed'
                    when 'account.mailbox_moved' then 'mailbox_changed'
                    else 'deleted' end
                where h.realm = p_realm and h.account = v_end.stream and h.session is not null
                    and h.ended_at is null and h.position < v_end.position
                    -- A move leaves alone what more was shown for than the mailbox.
                    and (v_end.type <> 'account.mailbox_moved' or (
                        select (e.data -> 'amr')::jsonb <@ '["otp", "mail"]'
                            and (e.data -> 'amr')::jsonb <> '[]'
                        from {log} e
                        where e.realm = p_realm and e.stream = h.session and e.version = 1));
        end if;
    end loop;
end $$;

-- section: finish

-- Each question with its own order: newest first, from a moment on. The key is that of all of them.
create index on {table} (realm, client_id, at, position);
create index on {table} (realm, at, position) where outcome = 'refused';
create index on {table} (realm, client_id, at, position)
    where outcome = 'refused';
-- What came from a network, and what a session began with. See decision 0081.
create index on {table} (source, realm, at, position) where source is not null;
create index on {table} (session, realm) where session is not null;

-- section: readers

create or replace view urd.login_history as
    select h.realm, h.position, h.at, h.account, h.app, h.client, h.client_id, h.method,
        h.outcome, h.reason, h.session, h.source, h.device, h.ended_at, h.end_reason,
        h.channel, h.country, h.asn, h.area
    from {table} h;
grant select on urd.login_history to urd_app, urd_observer;

-- section: analysts

-- Columns of indexes that begin with the realm, as they stand; all others behind `least`, which keeps the planner from
-- looking at them in other realms (decision 0160).
create or replace view {analyst}.sign_ins_v1 with (security_barrier) as
    select h.position, h.at, h.account, least(h.app) as app, least(h.client) as client,
        least(h.client_id) as client_id, least(h.method) as method,
        least(h.outcome) as outcome, least(h.reason) as reason,
        least(h.session) as session, least(h.source) as source, least(h.device) as device,
        least(h.channel) as channel, least(h.ended_at) as ended_at,
        least(h.end_reason) as end_reason, least(h.country) as country, least(h.asn) as asn,
        least(h.area) as area
    from {table} h
    where h.realm = (select {analyst_realm});
comment on view {analyst}.sign_ins_v1 is 'Who signed in or tried to: one row for each attempt.';
comment on column {analyst}.sign_ins_v1.position is 'Position of the event in the log of the realm.';
comment on column {analyst}.sign_ins_v1.at is 'When it happened.';
comment on column {analyst}.sign_ins_v1.account is 'The account; null where it is not known.';
comment on column {analyst}.sign_ins_v1.app is 'The app of a tenant, where one was meant.';
comment on column {analyst}.sign_ins_v1.client is 'The client; null on a page.';
comment on column {analyst}.sign_ins_v1.client_id is 'The name of the client.';
comment on column {analyst}.sign_ins_v1.method is 'By what the person signed in, or tried to.';
comment on column {analyst}.sign_ins_v1.outcome is 'signed_in or refused.';
comment on column {analyst}.sign_ins_v1.reason is 'Why it was refused.';
comment on column {analyst}.sign_ins_v1.session is 'The session that was opened.';
comment on column {analyst}.sign_ins_v1.source is
    'Pseudonym of the address that it came from: the same for the same address in a realm.';
comment on column {analyst}.sign_ins_v1.device is 'Kind of device and browser.';
comment on column {analyst}.sign_ins_v1.channel is 'By what a code came, if to a phone.';
comment on column {analyst}.sign_ins_v1.ended_at is 'When the session ended before its time.';
comment on column {analyst}.sign_ins_v1.end_reason is 'Why it did.';
comment on column {analyst}.sign_ins_v1.country is
    'Country of the network, by ISO 3166-1; null where it was not looked up.';
comment on column {analyst}.sign_ins_v1.asn is 'Number of the autonomous system of the network.';
comment on column {analyst}.sign_ins_v1.area is
    'Square of one degree that the network is in, by its south-western corner.';
grant select on {analyst}.sign_ins_v1 to urd_analyst;
