-- Which services are sent a realm's events, and by which terms.
-- Read by: the admin API, the webhook worker, `urd doctor`.
--
-- kind: inline
-- types: subscription.created subscription.changed subscription.paused subscription.resumed subscription.disabled subscription.secret_rotated subscription.replayed subscription.deleted

-- section: tables

create table {table} (
    realm text collate "C" not null,
    subscription uuid not null,
    kind text collate "C" not null,
    -- The open fields of the event that set them last.
    terms text collate "C" not null,
    -- active, paused, disabled or deleted.
    state text collate "C" not null,
    reason text collate "C",
    created_at timestamptz not null,
    changed_at timestamptz not null,
    version integer not null,
    -- Which of its kind's places in the realm it has; null for those from before places were numbered.
    slot integer,
    primary key (realm, subscription)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    insert into {table} as s (
        realm, subscription, kind, terms, state, created_at, changed_at, version, slot)
    select p_realm, e.stream, e.data ->> 'kind', e.data::text, 'active', e.at, e.at, e.version,
        (e.data ->> 'slot')::integer
    from urd.event e
    where e.realm = p_realm and e.position between p_first and p_last
        and e.type = 'subscription.created';

    update {table} s
        set terms = coalesce((
                select e.data::text from urd.event e
                where e.realm = p_realm and e.position between p_first and p_last
                    and e.type = 'subscription.changed' and e.stream = s.subscription
                order by e.position desc limit 1), s.terms),
            (state, reason) = (
                select coalesce(max(n.state), s.state),
                    case when max(n.state) is null then s.reason else max(n.reason) end
                from (
                    select case e.type when 'subscription.paused' then 'paused'
                            when 'subscription.disabled' then 'disabled'
                            when 'subscription.deleted' then 'deleted' else 'active' end as state,
                        e.data ->> 'reason' as reason
                    from urd.event e
                    where e.realm = p_realm and e.position between p_first and p_last
                        and e.stream = s.subscription
                        and e.type in ('subscription.paused', 'subscription.resumed',
                            'subscription.disabled', 'subscription.deleted')
                    order by e.position desc limit 1) n),
            (changed_at, version) = (
                select e.at, e.version from urd.event e
                where e.realm = p_realm and e.position between p_first and p_last
                    and e.type = any ({types}) and e.stream = s.subscription
                order by e.position desc limit 1)
        where s.realm = p_realm and s.subscription = any (array(
            select e.stream from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type = any ({types}) and e.type <> 'subscription.created'));
end $$;

-- section: finish

-- section: readers

create or replace view urd.subscriptions as
    select s.realm, s.subscription, s.kind, s.terms, s.state, s.reason, s.created_at, s.changed_at,
        s.version, s.slot
    from {table} s;
grant select on urd.subscriptions to urd_app, urd_observer;
