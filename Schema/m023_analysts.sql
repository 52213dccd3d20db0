-- Analysts ask in SQL. Each has a role of their own that reads the views of one realm and nothing else; most of
-- those views stand with the read models that they show (docs/analysts/sql.md).

create schema analyst;

do $$
begin
    if not exists (select from pg_roles where rolname = 'urd_analyst') then
        create role urd_analyst;
    end if;
end $$;

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
revoke all on function analyst.realm() from public;

create view analyst.deliveries_v1 with (security_barrier) as
    select d.subscription, d.position, d.type, d.at, d.milliseconds, d.status, d.outcome, d.replay
    from urd.delivery_attempt d
    where d.realm = (select analyst.realm());
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

grant usage on schema analyst to urd_analyst;
grant execute on function analyst.realm() to urd_analyst;
grant select on analyst.deliveries_v1, analyst.field_catalogue_v1 to urd_analyst;

-- Everybody may make temporary tables in a new database, and so fill its disk. Urd makes none.
do $$
begin
    execute format('revoke temporary on database %I from public', current_database());
end $$;
