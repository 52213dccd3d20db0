-- What happened, when, by whom and through what: one row for each event, in the order of the log.
-- It holds no personal data: who is named is named by an id, and the open fields of an event stand
-- in the log, where the view finds them.
-- Read by: the admin API, analysts.
--
-- kind: following

-- section: tables

create table {table} (
    realm text collate "C" not null,
    position bigint not null,
    at timestamptz not null,
    stream uuid not null,
    subject uuid,
    type text collate "C" not null,
    actor text collate "C" not null,
    client text collate "C",
    correlation text collate "C",
    primary key (realm, position)
);

-- Analysts compare these with what they choose: nothing is gathered of them in all realms (decision 0160).
alter table {table}
    alter column position set statistics 0, alter column actor set statistics 0;

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[]{shard_parameters})
returns void language plpgsql as $$
begin
    insert into {table} (
        realm, position, at, stream, subject, type, actor, client, correlation)
    select p_realm, e.position, e.at, e.stream, e.subject, e.type, e.meta ->> 'actor',
        e.meta ->> 'client', e.meta ->> 'correlation'
    from urd.event e
    where e.realm = p_realm and e.position between p_first and p_last {shard};
end $$;

-- section: finish

-- Rows stand nearly in the order of time. A stream's rows are found through the log, which has them.
create index on {table} using brin (at) with (pages_per_range = 16);
create index on {table} (realm, actor, position);
-- What does not happen with every sign-in, so that it is found among all that does. Questions say the same
-- (AuditQuestion).
create index on {table} (realm, position)
    where type <> all ('{
        account.registered, browser.opened, link.issued, link.redeemed, mail.sent, mailbox.assigned,
        otp.issued, otp.redeemed, passkey.used, passphrase.used, pushed_request.used,
        session.opened, session.refreshed, session_code.issued, session_code.used, totp.used}');

-- section: readers

create or replace view urd.audit_trail as
    select a.realm, a.position, a.at, a.stream, a.subject, a.type, a.actor, a.client,
        a.correlation,
        (select e.data from urd.event e where e.realm = a.realm and e.position = a.position)
            as fields
    from {table} a;
grant select on urd.audit_trail to urd_app;
-- As the log has them, fields hold digests that never leave.
revoke select on urd.audit_trail from urd_observer;
grant select (realm, position, at, stream, subject, type, actor, client, correlation)
    on urd.audit_trail to urd_observer;

-- section: analysts

-- What events_v1 is made of. Columns of indexes that begin with the realm, as they stand; all others behind `least`, which
-- keeps the planner from looking at them in other realms (decision 0160).
create or replace view {schema}.analyst_trail with (security_barrier) as
    select a.position, least(a.at) as at, least(a.type) as type, least(a.stream) as stream,
        least(a.subject) as subject, a.actor, least(a.client) as client,
        least(a.correlation) as correlation
    from {table} a
    where a.realm = (select {analyst_realm});

-- No barrier of its own, so that fields are opened last, and only of what was asked for.
create or replace view {analyst}.events_v1 as
    select t.position, t.at, t.type, t.stream, t.subject, t.actor, t.client, t.correlation,
        analyst.open_fields(t.position) as fields
    from {schema}.analyst_trail t;
comment on view {analyst}.events_v1 is 'Every event, in the order of the log.';
comment on column {analyst}.events_v1.position is 'Position in the log of the realm.';
comment on column {analyst}.events_v1.at is 'When it happened.';
comment on column {analyst}.events_v1.type is 'Type of the event.';
comment on column {analyst}.events_v1.stream is 'The thing that it happened to: an account, a session, a client.';
comment on column {analyst}.events_v1.subject is 'The person whose key seals what is personal in it.';
comment on column {analyst}.events_v1.actor is 'Who caused it.';
comment on column {analyst}.events_v1.client is 'Through which client.';
comment on column {analyst}.events_v1.correlation is 'The request that it came of.';
comment on column {analyst}.events_v1.fields is
    'Its open fields: see field_catalogue_v1. What is personal or secret is not in there.';
grant select on {analyst}.events_v1 to urd_analyst;

create or replace view {analyst}.admin_acts_v1 with (security_barrier) as
    select a.position, least(a.at) as at, least(a.type) as type, least(a.stream) as stream,
        least(a.subject) as subject, a.actor, least(a.correlation) as correlation
    from {table} a
    where a.realm = (select {analyst_realm})
        and (starts_with(a.actor, 'admin:') or starts_with(a.actor, 'operator:'));
comment on view {analyst}.admin_acts_v1 is 'What administrators did by the admin API and the command line.';
comment on column {analyst}.admin_acts_v1.position is 'Position in the log of the realm.';
comment on column {analyst}.admin_acts_v1.at is 'When it happened.';
comment on column {analyst}.admin_acts_v1.type is 'Type of the event.';
comment on column {analyst}.admin_acts_v1.stream is 'The thing that it happened to.';
comment on column {analyst}.admin_acts_v1.subject is 'The person whom it concerns.';
comment on column {analyst}.admin_acts_v1.actor is 'The key of the admin API, or the operator.';
comment on column {analyst}.admin_acts_v1.correlation is 'The request that it came of.';
grant select on {analyst}.admin_acts_v1 to urd_analyst;
