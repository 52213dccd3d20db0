-- How far each subscription is, and what of it is not done yet. Deliveries are no events: a log that
-- told of each would grow by one for every event and subscriber, and would have to deliver that too.
--
-- Readers of feeds whose cursor is kept stand beside those of webhooks: `leased_by` is the one reader that is
-- sent events, and `position` what it has confirmed.

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
    -- Of a feed: until then no other reader is let in, unless it says that it takes over.
    lease_until timestamptz,
    -- The last position that a reader may have been sent. It moves before the events go out, so
    -- that every node knows what a reader can confirm.
    sent bigint,
    -- How often a subscription was begun, by its creation and by each resume: failures from before the last of
    -- them count no more.
    runs integer not null default 0,
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
-- Attempts are written in the order of their time, so that a summary of each stretch of the table finds those of a
-- time: an index with an entry for each was a tenth of what a delivery costs the database.
create index delivery_attempt_at on urd.delivery_attempt using brin (at) with (autosummarize = on);

grant select, insert, update, delete on urd.subscription_cursor, urd.delivery, urd.delivery_attempt
    to urd_app;
grant select on urd.subscription_cursor, urd.delivery to urd_observer;
grant select (realm, subscription, number, position, type, at, milliseconds, status, outcome, replay)
    on urd.delivery_attempt to urd_observer;
