-- The clients that are still to be told that somebody logged out, and those that could not be. What they
-- are told is in no row: it is made when it is sent, from the event that asks for it.
-- Read by: the service that tells them.
--
-- kind: following
-- types: session.detached session.ended logout_notice.delivered logout_notice.deferred logout_notice.failed

-- section: tables

create table {table} (
    realm text collate "C" not null,
    notice uuid not null,
    -- The event that asks for it.
    position bigint not null,
    failed boolean not null default false,
    attempts integer not null default 0,
    due_at timestamptz not null,
    -- What the client answered last; 0 where it was not reached.
    code integer,
    primary key (realm, notice)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    insert into {table} (realm, notice, position, due_at)
        select p_realm, (e.data ->> 'notice')::uuid, e.position, e.at
        from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type in ('session.detached', 'session.ended')
            and e.data ->> 'notice' is not null;

    -- Of several things that happened to a notice the last one counts.
    update {table} n
        set failed = l.type = 'logout_notice.failed',
            attempts = (l.data ->> 'attempt')::integer,
            code = (l.data ->> 'code')::integer,
            due_at = coalesce(to_timestamp((l.data ->> 'until')::bigint), l.at)
        from (
            select distinct on (e.stream) e.stream, e.type, e.data, e.at
            from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type in ('logout_notice.deferred', 'logout_notice.failed')
            order by e.stream, e.position desc
        ) l
        where n.realm = p_realm and n.notice = l.stream;

    delete from {table} n
        using urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = 'logout_notice.delivered' and n.realm = p_realm
            and n.notice = e.stream;
end $$;

-- section: finish

create index on {table} (due_at) where not failed;

-- section: readers

create or replace view urd.logout_notices as
    select n.realm, n.notice, n.position, n.failed, n.attempts, n.due_at, n.code
    from {table} n;
grant select on urd.logout_notices to urd_app, urd_observer;
