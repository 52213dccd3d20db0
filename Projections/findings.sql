-- What the rules found in a realm's log: one row for each finding, as it stands now.
-- Read by: the admin API, `urd finding`, the service that raises findings, analysts.
--
-- kind: inline
-- types: finding.raised finding.escalated finding.closed

-- section: tables

create table {table} (
    realm text collate "C" not null,
    finding uuid not null,
    rule text collate "C" not null,
    level text collate "C" not null,
    account uuid,
    session uuid,
    source text collate "C",
    about_actor text collate "C",
    -- In the order of the log.
    positions bigint[] not null,
    -- When the first and the last of what it was raised for happened.
    first_at timestamptz not null,
    last_at timestamptz not null,
    counts text collate "C" not null,
    places text[],
    raised_at timestamptz not null,
    raised_position bigint not null,
    closed_at timestamptz,
    -- quiet or administrator.
    cause text collate "C",
    reason text collate "C",
    closed_by text collate "C",
    version integer not null,
    primary key (realm, finding)
);

create index on {table} (realm, finding) where closed_at is null;
create index on {table} (realm, account, finding) where account is not null;

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    insert into {table} (
        realm, finding, rule, level, account, session, source, about_actor, positions, first_at,
        last_at, counts, places, raised_at, raised_position, version)
    select p_realm, e.stream, e.data ->> 'rule', e.data ->> 'level',
        (e.data ->> 'account')::uuid, (e.data ->> 'session')::uuid, e.data ->> 'source',
        e.data ->> 'about_actor',
        array(select json_array_elements_text(e.data -> 'positions')::bigint),
        to_timestamp((e.data ->> 'from')::bigint), to_timestamp((e.data ->> 'to')::bigint),
        (e.data -> 'counts')::text,
        case when e.data -> 'places' is not null then
            array(select json_array_elements_text(e.data -> 'places')) end,
        e.at, e.position, e.version
    from {log} e
    where e.realm = p_realm and e.position between p_first and p_last
        and e.type = 'finding.raised';

    update {table} f
        set (level, version) = (
                select e.data ->> 'level', e.version from {log} e
                where e.realm = p_realm and e.position between p_first and p_last
                    and e.type = 'finding.escalated' and e.stream = f.finding
                order by e.position desc limit 1),
            positions = f.positions || array(
                select (e.data ->> 'position')::bigint from {log} e
                where e.realm = p_realm and e.position between p_first and p_last
                    and e.type = 'finding.escalated' and e.stream = f.finding
                order by e.position)
        where f.realm = p_realm and f.finding = any (array(
            select e.stream from {log} e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type = 'finding.escalated'));

    update {table} f
        set closed_at = e.at, cause = e.data ->> 'cause', reason = e.data ->> 'reason',
            closed_by = e.meta ->> 'actor', version = e.version
        from {log} e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = 'finding.closed' and f.realm = p_realm and f.finding = e.stream;
end $$;

-- section: finish

-- section: readers

create or replace view urd.findings as
    select f.realm, f.finding, f.rule, f.level, f.account, f.session, f.source, f.about_actor,
        f.positions, f.first_at, f.last_at, f.counts, f.raised_at, f.raised_position, f.closed_at,
        f.cause, f.reason, f.closed_by, f.version, f.places
    from {table} f;
grant select on urd.findings to urd_app, urd_observer;

-- section: analysts

create or replace view {analyst}.findings_v1 with (security_barrier) as
    select f.finding, f.rule, f.level, f.account, f.session, f.source, f.about_actor, f.positions,
        f.first_at, f.last_at, f.counts::json as counts, f.raised_at, f.raised_position,
        f.closed_at, f.cause, f.reason, f.closed_by, f.places
    from {table} f
    where f.realm = (select {analyst_realm})
    -- What an analyst asks for is looked for in the rows of the realm alone (decision 0160).
    offset 0;
comment on view {analyst}.findings_v1 is 'What the rules found: one row for each finding, {as_it_is}.';
comment on column {analyst}.findings_v1.finding is 'The finding.';
comment on column {analyst}.findings_v1.rule is 'The rule by which it was found, such as brute_force.';
comment on column {analyst}.findings_v1.level is 'How bad it is: low, medium or high.';
comment on column {analyst}.findings_v1.account is 'The account that it is about.';
comment on column {analyst}.findings_v1.session is 'The session that it is about.';
comment on column {analyst}.findings_v1.source is
    'Pseudonym of the network that it is about: as in sign_ins_v1.';
comment on column {analyst}.findings_v1.about_actor is
    'The key of an administrator, or the operator, that it is about.';
comment on column {analyst}.findings_v1.positions is
    'Positions of the events that it rests on, as in events_v1.';
comment on column {analyst}.findings_v1.first_at is 'When the first of them happened.';
comment on column {analyst}.findings_v1.last_at is 'When the last of those that it was raised for did.';
comment on column {analyst}.findings_v1.counts is 'How many of what there were, by name.';
comment on column {analyst}.findings_v1.raised_at is 'When it was raised.';
comment on column {analyst}.findings_v1.raised_position is 'Position of the event that raised it.';
comment on column {analyst}.findings_v1.closed_at is 'When it was closed; null while it is open.';
comment on column {analyst}.findings_v1.cause is
    'quiet: nothing more of it happened. administrator: somebody closed it.';
comment on column {analyst}.findings_v1.reason is 'Why, in the words of who closed it.';
comment on column {analyst}.findings_v1.closed_by is 'Who closed it.';
comment on column {analyst}.findings_v1.places is
    'Where it happened, by country and square of one degree, where the rule is about that.';
grant select on {analyst}.findings_v1 to urd_analyst;
