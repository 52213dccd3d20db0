-- How far each subscription is, and what of it is not done yet. Deliveries are no events: a log that
-- told of each would grow by one for every event and subscriber, and would have to deliver that too.

create table urd.subscription_cursor (
    realm text collate "C" not null,
    subscription uuid not null,
    epoch integer not null,
    -- Everything up to here is delivered, was not asked for, or stands in urd.delivery.
    position bigint not null,
    -- Delivered already, though something before it is not.
    done bigint[] not null default '{}',
    -- How often a place to start from was named when this one was taken.
    starts integer not null,
    -- The node that delivers. One that is frozen and comes back changes nothing.
    leased_by uuid,
    -- Since when nothing has been delivered though something was tried.
    blocked_since timestamptz,
    failures integer not null default 0,
    -- A receiver that cannot be reached is left alone until then.
    rests_until timestamptz,
    -- Why it stands still without being disabled: see the log of the server.
    halted text collate "C",
    last_status integer,
    last_at timestamptz,
    primary key (realm, subscription)
) with (fillfactor = 50);

-- What was tried in vain, and what waits behind it.
create table urd.delivery (
    realm text collate "C" not null,
    subscription uuid not null,
    position bigint not null,
    -- Deliveries of one lane keep their order.
    lane uuid not null,
    type text collate "C" not null,
    given_up boolean not null default false,
    replay boolean not null default false,
    attempts integer not null default 0,
    status integer,
    next_at timestamptz not null,
    primary key (realm, subscription, position)
);

create table urd.delivery_attempt (
    realm text collate "C" not null,
    subscription uuid not null,
    number bigint generated always as identity,
    position bigint not null,
    type text collate "C" not null,
    at timestamptz not null,
    milliseconds integer not null,
    -- 0 where there was no answer.
    status integer not null,
    outcome text collate "C" not null,
    replay boolean not null,
    answer text not null,
    primary key (realm, subscription, number)
);
create index delivery_attempt_at on urd.delivery_attempt (realm, at);

grant select, insert, update, delete on urd.subscription_cursor, urd.delivery, urd.delivery_attempt
    to urd_app;
grant select on urd.subscription_cursor, urd.delivery to urd_observer;
grant select (realm, subscription, number, position, type, at, milliseconds, status, outcome, replay)
    on urd.delivery_attempt to urd_observer;
