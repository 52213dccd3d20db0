-- Analysts ask in SQL. Each has a role of their own that reads the views of one realm and nothing else; most of
-- those views stand with the read models that they show (docs/analysts/sql.md).

-- The realm that a role may read.
create table urd.analyst (
    role name primary key,
    realm text collate "C" not null,
    added_at timestamptz not null default now()
);

-- The fields of the events, as the catalogue of the newest program has them. What it does not know is shown to
-- no analyst.
create table urd.event_field (
    type text collate "C" not null,
    field text collate "C" not null,
    kind text collate "C" not null,
    visibility text collate "C" not null,
    sentence text not null,
    primary key (type, field)
);
grant select on urd.analyst, urd.event_field to urd_app;

-- The realm of the analyst who asks. A role can lift the limits that it begins with, and then is told nothing.
create function analyst.realm() returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_realm text;
    v_limit interval := current_setting('statement_timeout')::interval;
begin
    select a.realm into v_realm from urd.analyst a where a.role = session_user;
    if not found then
        raise insufficient_privilege using
            message = format('the role %s sees no realm', session_user),
            hint = 'Make one with: urd analyst add NAME --realm REALM';
    end if;
    if v_limit = interval '0' or v_limit > interval '30 seconds' then
        raise insufficient_privilege using
            message = 'statement_timeout must be 30 seconds at most',
            hint = 'set statement_timeout = ''30s''';
    end if;
    return v_realm;
end $$;

-- What an analyst asks for is compared with rows of the realm alone, and is estimated by nothing that other realms have
-- (decision 0160): so the view has an offset. Read models have their own part of it.
create view analyst.deliveries_v1 with (security_barrier) as
    select d.subscription, d.position, d.type, d.at, d.milliseconds, d.status, d.outcome, d.replay
    from urd.delivery_attempt d
    where d.realm = (select analyst.realm())
    offset 0;
comment on view analyst.deliveries_v1 is 'Attempts to deliver events to webhooks, of the last 30 days.';
comment on column analyst.deliveries_v1.subscription is 'The webhook.';
comment on column analyst.deliveries_v1.position is 'Position of the event; 0 where the message is in no log.';
comment on column analyst.deliveries_v1.type is 'Type of the event.';
comment on column analyst.deliveries_v1.at is 'When it was sent.';
comment on column analyst.deliveries_v1.milliseconds is 'How long the answer took.';
comment on column analyst.deliveries_v1.status is 'Status of the answer; 0 where there was none.';
comment on column analyst.deliveries_v1.outcome is 'delivered, or why not.';
comment on column analyst.deliveries_v1.replay is 'Whether it was asked for once more.';

create view analyst.field_catalogue_v1 with (security_barrier) as
    select f.type, f.field, f.kind, f.visibility, f.sentence
    from urd.event_field f
    where (select analyst.realm()) is not null;
comment on view analyst.field_catalogue_v1 is 'The fields of every type of event.';
comment on column analyst.field_catalogue_v1.type is 'Type of the event.';
comment on column analyst.field_catalogue_v1.field is 'Name of the field, as in events_v1.fields.';
comment on column analyst.field_catalogue_v1.kind is 'What stands in it, as in the JSON Schema of the type.';
comment on column analyst.field_catalogue_v1.visibility is
    'open: in events_v1. personal: sealed, not in SQL. never-leaves: shown to nobody.';
comment on column analyst.field_catalogue_v1.sentence is 'What it means.';

-- The open fields of an event of the realm of the analyst who asks. A function of its own, because a barrier would open
-- those of each event before it asks which are wanted.
create function analyst.open_fields(p_position bigint) returns json
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select coalesce(json_object_agg(d.key, d.value), '{}')
    from urd.event e cross join lateral json_each(e.data) d
    join urd.event_field f on f.type = e.type and f.field = d.key and f.visibility = 'open'
    where e.realm = (select analyst.realm()) and e.position = p_position
$$;

-- Ends sessions of analysts that take from all others: one with more than `p_locks` locks in the table that all share, a
-- statement of more than `p_seconds` (a role can lift its own limit), and a transaction that did nothing for twice as
-- long. A role that piled up locks cannot connect any more until an operator says so. Says how many sessions ended.
--
-- Where there is no room for another lock it fails as all else does: it is asked before there is none.
create function urd.end_greedy_analysts(p_locks integer, p_seconds integer) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_one record;
    v_ended integer := 0;
begin
    for v_one in
        select a.role, s.pid, s.state, s.query_start, s.state_change
        from urd.analyst a join pg_stat_get_activity(null) s on s.usesysid = to_regrole(quote_ident(a.role))
    loop
        -- A member may end its sessions. A database that was restored has roles of another server.
        if not pg_has_role(current_user, v_one.role, 'usage') then
            begin
                execute format('grant %I to current_user', v_one.role);
            exception when others then
                -- Another made the role.
                null;
            end;
            continue;
        end if;
        if (select count(*) from pg_lock_status() l where l.pid = v_one.pid) > p_locks then
            perform pg_terminate_backend(v_one.pid, 2000);
            v_ended := v_ended + 1;
            begin
                execute format('alter role %I nologin', v_one.role);
            exception when others then
                -- It is ended again when it comes back.
                null;
            end;
        elsif v_one.state = 'active'
                and v_one.query_start < clock_timestamp() - p_seconds * interval '1 second'
            or v_one.state like 'idle in transaction%'
                and v_one.state_change < clock_timestamp() - 2 * p_seconds * interval '1 second'
        then
            perform pg_terminate_backend(v_one.pid);
            v_ended := v_ended + 1;
        end if;
    end loop;
    return v_ended;
end $$;

revoke all on function analyst.realm, analyst.open_fields, urd.end_greedy_analysts from public;
grant execute on function analyst.realm, analyst.open_fields to urd_analyst;
grant execute on function urd.end_greedy_analysts to urd_app;
grant select on analyst.deliveries_v1, analyst.field_catalogue_v1 to urd_analyst;
