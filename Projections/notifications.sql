-- The notifications that are still to be sent, and those that could not be. What one says is in no row:
-- it is opened when it is sent, from the event that asks for it.
-- Read by: the service that sends them, `urd notification`.
--
-- kind: following
-- types: notification.requested notification.pushed notification.mailed notification.deferred notification.failed notification.superseded notification.requeued

-- section: tables

create table {table} (
    realm text collate "C" not null,
    notification uuid not null,
    -- The event that asks for it.
    position bigint not null,
    category text collate "C" not null,
    failed boolean not null default false,
    attempts integer not null default 0,
    due_at timestamptz not null,
    -- What a provider answered last; 0 where none was reached.
    code integer,
    primary key (realm, notification)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    insert into {table} (realm, notification, position, category, due_at)
        select p_realm, e.stream, e.position, e.data ->> 'category',
            to_timestamp((e.data ->> 'due')::bigint)
        from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = 'notification.requested';

    -- Of several things that happened to a notification the last one counts.
    update {table} n
        set failed = l.type = 'notification.failed',
            attempts = coalesce((l.data ->> 'attempt')::integer, 0),
            code = (l.data ->> 'code')::integer,
            due_at = coalesce(to_timestamp((l.data ->> 'until')::bigint), l.at)
        from (
            select distinct on (e.stream) e.stream, e.type, e.data, e.at
            from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type in (
                    'notification.deferred', 'notification.failed', 'notification.requeued')
            order by e.stream, e.position desc
        ) l
        where n.realm = p_realm and n.notification = l.stream;

    -- As a list: a join would be free to read all notifications.
    delete from {table} n
        where n.realm = p_realm and n.notification = any (array(
            select e.stream from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type in (
                    'notification.pushed', 'notification.mailed', 'notification.superseded')));
end $$;

-- section: finish

create index on {table} (due_at) where not failed;
create index on {table} (realm, notification) where failed;

-- section: readers

create or replace view urd.notifications as
    select n.realm, n.notification, n.position, n.category, n.failed, n.attempts, n.due_at, n.code
    from {table} n;
grant select on urd.notifications to urd_app, urd_observer;
