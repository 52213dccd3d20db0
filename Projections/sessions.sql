-- Each session as it is now: whose it is, what it may do, how far its refresh tokens are, and whether
-- it ended before its time.
-- Read by: introspection, user info, revocation, the account page.
--
-- kind: inline
-- types: session.opened session.refreshed session.ended

-- section: tables

create table {table} (
    realm text collate "C" not null,
    session uuid not null,
    account uuid,
    -- Nulls are only ever in a row that is proposed to an update: the page says nothing there.
    -- As the event has them: JSON that is copied, and read by who asks for the session.
    terms text,
    opened_at timestamptz,
    generation integer,
    refreshed_at timestamptz,
    ended text collate "C",
    ended_at timestamptz,
    -- Whether its client is to hear of its end.
    announced boolean,
    version integer not null,
    primary key (realm, session)
) with (fillfactor = 80);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[]{shard_parameters})
returns void language plpgsql as $$
begin
    -- A session is opened once.
    if p_types is null or 'session.opened' = any (p_types) then
        insert into {table} (
            realm, session, account, terms, opened_at, generation, announced, version)
        select p_realm, e.stream, (e.data ->> 'account')::uuid, e.data::text, e.at, 0,
            -- To look through the text costs less than to read it.
            e.data::text like '%"issuer":%', e.version
        from {log} e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = 'session.opened' {shard};
    end if;

    -- The last one counts, which need not have the latest time: clocks of nodes differ. As a proposal, which is
    -- always a look-up: a join would be free to read all sessions.
    if p_types is null or 'session.refreshed' = any (p_types) then
        insert into {table} as s (realm, session, generation, refreshed_at, version)
        select distinct on (e.stream) p_realm, e.stream, (e.data ->> 'generation')::integer, e.at,
            e.version
        from {log} e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = 'session.refreshed' {shard} and (
                select true from {table} k
                where k.realm = p_realm and k.session = e.stream)
        order by e.stream, e.version desc
        on conflict (realm, session) do update set
            generation = excluded.generation, refreshed_at = excluded.refreshed_at,
            version = excluded.version;
    end if;

    if p_types is null or 'session.ended' = any (p_types) then
        insert into {table} as s (realm, session, ended, ended_at, version)
        select distinct on (e.stream) p_realm, e.stream, e.data ->> 'reason', e.at, e.version
        from {log} e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = 'session.ended' {shard} and (
                select true from {table} k
                where k.realm = p_realm and k.session = e.stream)
        order by e.stream, e.version desc
        on conflict (realm, session) do update set
            ended = excluded.ended, ended_at = excluded.ended_at,
            version = greatest(s.version, excluded.version);
    end if;
end $$;

-- section: finish

-- An account's sessions that did not end: those that did are the history's.
create index on {table} (realm, account, session)
    where account is not null and ended is null;
-- Those whose clients are to hear of their end.
create index on {table} (realm, session)
    where ended is null and announced;
-- Of these, those that were opened by something that may be over by itself.
create index on {table} (realm, session)
    where ended is null and announced and terms like '%"opener_%';

-- section: readers

create or replace view urd.sessions as
    select s.realm, s.session, s.account, s.terms::json as terms, s.opened_at, s.generation,
        s.refreshed_at, s.ended, s.announced, s.version, s.terms like '%"opener_%' as has_opener
    from {table} s;
grant select on urd.sessions to urd_app, urd_observer;

-- section: analysts

-- What ends a session first: itself, its account, a removal of access, its client, or what it was exchanged from or opened
-- by.
create or replace view {schema}.session_ends as
    select s.realm, s.session, s.account, t.client, t.client_id, t.app, t.method, s.opened_at,
        s.refreshed_at, s.generation, e.reason as end_reason, e.at as ended_at,
        to_timestamp(t.expires_at) as expires_at
    from {table} s cross join lateral json_to_record(s.terms::json) as t (
        client uuid, client_id text, app uuid, method text, stamp bigint, moves bigint,
        amr jsonb, expires_at bigint, exchanged uuid, opener_session uuid, opener_client uuid,
        federated_device uuid, removals bigint, browser uuid, offline boolean)
    left join {schema}.accounts a on a.realm = s.realm and a.account = s.account
    left join {schema}.clients c on c.realm = s.realm and c.client = t.client
    left join {schema}.clients oc on oc.realm = s.realm and oc.client = t.opener_client
    left join lateral (
        select x.reason, x.at from (
            select s.ended, s.ended_at where s.ended is not null
            union all (
                select n.reason, n.at from urd.account_ends n
                where s.account is not null and coalesce(a.stamp > t.stamp, true)
                    and n.realm = s.realm and n.account = s.account and n.stamp = t.stamp limit 1)
            union all (
                select case when n.data ->> 'client' is not null then 'withdrawn'
                    when n.data ->> 'browser' is not null then 'logged_out' else 'revoked' end, n.at
                from urd.event n
                where coalesce(greatest(
                        (a.removed ->> t.client::text)::bigint,
                        (a.removed ->> t.federated_device::text)::bigint,
                        (a.removed ->> concat(
                            case when t.offline then 'offline ' end, t.browser))::bigint), 0)
                        > coalesce(t.removals, 0)
                    and n.realm = s.realm and n.stream = s.account
                    and n.type = 'account.access_removed'
                    and (n.data ->> 'removals')::bigint > coalesce(t.removals, 0)
                    and coalesce(n.data ->> 'client', n.data ->> 'federated_device', concat(
                            case when n.data ->> 'offline' = 'true' then 'offline ' end,
                            n.data ->> 'browser'))
                        in (t.client::text, t.federated_device::text,
                            concat(case when t.offline then 'offline ' end, t.browser))
                order by n.version limit 1)
            union all (
                select 'mailbox_changed', m.at from urd.event m
                where coalesce(t.moves, 0) < a.moves and t.amr <@ '["otp", "mail"]' and t.amr <> '[]'
                    and m.realm = s.realm and m.stream = s.account
                    and m.type = 'account.mailbox_moved'
                order by m.version offset coalesce(t.moves, 0) limit 1)
            union all (
                select 'client_deleted', d.at from urd.event d
                where c.client is null and d.realm = s.realm and d.stream = t.client
                    and d.type = 'client.deleted' limit 1)
            union all (
                select 'client_deleted', d.at from urd.event d
                where t.opener_client is not null and oc.client is null and d.realm = s.realm
                    and d.stream = t.opener_client and d.type = 'client.deleted' limit 1)
            union all (
                with recursive origin as (
                    select o.session, o.terms::json, o.ended, o.ended_at, 1 as depth
                    from {table} o where o.realm = s.realm
                        and o.session = coalesce(t.exchanged, t.opener_session)
                    union all
                    select o.session, o.terms::json, o.ended, o.ended_at, i.depth + 1
                    from origin i join {table} o on o.realm = s.realm
                        and o.session = coalesce(
                            i.terms ->> 'exchanged', i.terms ->> 'opener_session')::uuid
                    where i.depth < 10
                )
                select 'exchanged_' || i.ended, i.ended_at from origin i
                where coalesce(t.exchanged, t.opener_session) is not null
                    and i.ended is not null
                order by i.ended_at limit 1)
        ) x (reason, at)
        -- Its client may have been told later.
        order by x.reason = 'lapsed', x.at limit 1) e on true;

-- `least` keeps the planner from looking at what an analyst asks for in other realms (decision 0160).
create or replace view {analyst}.sessions_v1 with (security_barrier) as
    select least(s.session) as session, least(s.account) as account, s.client, s.client_id, s.app,
        s.method, least(s.opened_at) as opened_at, least(s.refreshed_at) as refreshed_at,
        least(s.generation) as generation, s.end_reason, s.ended_at, s.expires_at
    from {schema}.session_ends s
    where s.realm = (select {analyst_realm});
comment on view {analyst}.sessions_v1 is 'Each session of an application {as_it_is}.';
comment on column {analyst}.sessions_v1.session is 'The session.';
comment on column {analyst}.sessions_v1.account is 'Whose it is; null where a client acts for itself.';
comment on column {analyst}.sessions_v1.client is 'Its client.';
comment on column {analyst}.sessions_v1.client_id is 'The name of the client.';
comment on column {analyst}.sessions_v1.app is 'The app of a tenant, where one was meant.';
comment on column {analyst}.sessions_v1.method is 'By what it was opened.';
comment on column {analyst}.sessions_v1.opened_at is 'When it was opened.';
comment on column {analyst}.sessions_v1.refreshed_at is 'When its tokens were last refreshed.';
comment on column {analyst}.sessions_v1.generation is 'How often its tokens were refreshed.';
comment on column {analyst}.sessions_v1.end_reason is
    'Why it ended before its time: by itself, with its account, with its client, or (exchanged_…) with the session that '
    'it was exchanged from or whose app opened the web view that it came of; null where it did not. Also of one whose time was over by then: see expires_at.';
comment on column {analyst}.sessions_v1.ended_at is 'When it did.';
comment on column {analyst}.sessions_v1.expires_at is 'When it ends by itself.';
grant select on {analyst}.sessions_v1 to urd_analyst;
