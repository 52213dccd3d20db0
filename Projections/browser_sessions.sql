-- The browsers that people are signed in with: whose each session is, what was shown for it, and
-- whether it ended before its time.
-- Read by: every page, through the cookie; the account page.
--
-- kind: inline
-- types: browser.opened browser.ended

-- section: tables

create table {table} (
    realm text collate "C" not null,
    session uuid not null,
    account uuid not null,
    terms jsonb not null,
    opened_at timestamptz not null,
    ended text collate "C",
    primary key (realm, session)
) with (fillfactor = 80);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    insert into {table} (realm, session, account, terms, opened_at)
    select p_realm, e.stream, (e.data ->> 'account')::uuid, e.data::jsonb - 'account', e.at
    from urd.event e
    where e.realm = p_realm and e.position between p_first and p_last
        and e.type = 'browser.opened';

    update {table} s
        set ended = e.data ->> 'reason'
        from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = 'browser.ended' and s.realm = p_realm and s.session = e.stream;
end $$;

-- section: finish

-- An account's browsers that are not signed out: the others are the history's.
create index on {table} (realm, account, session) where ended is null;

-- section: readers

create or replace view urd.browser_sessions as
    select s.realm, s.session, s.account, s.terms, s.opened_at, s.ended
    from {table} s;
grant select on urd.browser_sessions to urd_app;
-- The terms hold the digest of the cookie, which never leaves.
revoke select on urd.browser_sessions from urd_observer;
grant select (realm, session, account, opened_at, ended) on urd.browser_sessions to urd_observer;
