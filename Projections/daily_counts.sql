-- How many events of each type a realm had on each day, in UTC.
-- Read by: analysts, the admin API's overview.
--
-- kind: following

-- section: tables

create table {table} (
    realm text collate "C" not null,
    day date not null,
    type text collate "C" not null,
    events bigint not null,
    primary key (realm, day, type)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    insert into {table} as c (realm, day, type, events)
    select p_realm, (e.at at time zone 'UTC')::date, e.type, count(*)
    from {log} e
    where e.realm = p_realm and e.position between p_first and p_last
    group by 2, 3
    on conflict (realm, day, type) do update set events = c.events + excluded.events;
end $$;

-- section: finish

-- section: readers

create or replace view urd.daily_counts as
    select c.realm, c.day, c.type, c.events from {table} c;
grant select on urd.daily_counts to urd_app, urd_observer;

-- section: analysts

create or replace view {analyst}.daily_v1 with (security_barrier) as
    select c.day, c.type, c.events
    from {table} c
    where c.realm = (select {analyst_realm})
    -- What an analyst asks for is looked for in the rows of the realm alone (decision 0160).
    offset 0;
comment on view {analyst}.daily_v1 is 'How many events of each type there were on each day, in UTC.';
comment on column {analyst}.daily_v1.day is 'The day, in UTC.';
comment on column {analyst}.daily_v1.type is 'Type of the events.';
comment on column {analyst}.daily_v1.events is 'How many there were.';
grant select on {analyst}.daily_v1 to urd_analyst;
