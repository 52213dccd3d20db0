-- Each session as it is now: whose it is, what it may do, how far its refresh tokens are, and whether
-- it ended before its time.
-- Read by: introspection, user info, revocation, the account page.
--
-- kind: inline
-- types: session.opened session.refreshed session.ended

-- section: tables

create table urd.sessions_{build} (
    realm text collate "C" not null,
    session uuid not null,
    account uuid,
    -- Nulls are only ever in a row that is proposed to an update: the page says nothing there.
    terms jsonb,
    opened_at timestamptz,
    generation integer,
    refreshed_at timestamptz,
    ended text collate "C",
    version integer not null,
    primary key (realm, session)
) with (fillfactor = 80);

-- section: apply

create function urd.sessions_{build}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[]{shard_parameters})
returns void language plpgsql as $$
begin
    with page as (
        select e.stream, max(e.version) as version,
            -- A session is opened once.
            max(e.data::text) filter (where e.type = 'session.opened') as terms,
            min(e.at) filter (where e.type = 'session.opened') as opened_at,
            max((e.data ->> 'generation')::integer) filter (
                where e.type = 'session.refreshed') as generation,
            max(e.at) filter (where e.type = 'session.refreshed') as refreshed_at,
            max(e.data ->> 'reason') filter (where e.type = 'session.ended') as ended
        from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = any ({types}) {shard}
        group by e.stream
    )
    insert into urd.sessions_{build} as s (
        realm, session, account, terms, opened_at, generation, refreshed_at, ended, version)
    select p_realm, p.stream, (p.terms::jsonb ->> 'account')::uuid, p.terms::jsonb - 'account',
        p.opened_at, coalesce(p.generation, case when p.terms is not null then 0 end),
        p.refreshed_at, p.ended, p.version
    from page p
    where p.terms is not null or (
        select true from urd.sessions_{build} k where k.realm = p_realm and k.session = p.stream)
    on conflict (realm, session) do update set
        generation = coalesce(excluded.generation, s.generation),
        refreshed_at = coalesce(excluded.refreshed_at, s.refreshed_at),
        ended = coalesce(excluded.ended, s.ended),
        version = excluded.version;
end $$;

-- section: finish

-- An account's sessions that did not end: those that did are the history's.
create index on urd.sessions_{build} (realm, account, session)
    where account is not null and ended is null;
-- Those whose clients are to hear of their end.
create index on urd.sessions_{build} (realm, session)
    where ended is null and terms ->> 'issuer' is not null;

-- section: readers

create or replace view urd.sessions as
    select s.realm, s.session, s.account, s.terms, s.opened_at, s.generation, s.refreshed_at,
        s.ended, s.version
    from urd.sessions_{build} s;
grant select on urd.sessions to urd_app, urd_observer;
