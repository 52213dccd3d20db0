-- How far each stream of security signals is, and what its receiver has yet to confirm. What is not
-- looked at yet is in the log alone: a stream that is paused for a year holds no row for it.

create table urd.ssf_cursor (
    realm text collate "C" not null,
    stream uuid not null,
    -- The log up to here was looked at; its signals are confirmed, or among the rows below.
    epoch integer not null,
    position bigint not null,
    -- The stream's own events up to here were heeded.
    version integer not null,
    -- When the receiver last asked for a verification.
    verified_at timestamptz,
    -- When it last polled, or answered a push.
    heard_at timestamptz not null default now(),
    failures integer not null default 0,
    failing_since timestamptz,
    next_at timestamptz,
    primary key (realm, stream)
    -- Small, and every row is written again and again.
) with (fillfactor = 50, autovacuum_vacuum_threshold = 200);

create table urd.ssf_signal (
    realm text collate "C" not null,
    stream uuid not null,
    jti text collate "C" not null,
    -- The event that it comes of; of a verification that was asked for, where the log was then.
    position bigint not null,
    type text collate "C" not null,
    -- Whose signals are sent in order; null: it is about the stream itself.
    account uuid,
    -- What a verification gives back. Only the receiver is to see it.
    state text collate "C",
    issued_at timestamptz not null,
    -- How often it was pushed in vain while others got through, and when it is tried again.
    attempts integer not null default 0,
    next_at timestamptz,
    -- Why the receiver refused it for good: it is not sent again.
    refused text collate "C",
    primary key (realm, stream, jti)
);

create index on urd.ssf_signal (realm, stream, position);

grant select, insert, update, delete on urd.ssf_cursor, urd.ssf_signal to urd_app;
grant select on urd.ssf_cursor to urd_observer;
grant select (realm, stream, jti, position, type, account, issued_at, attempts, next_at,
        refused)
    on urd.ssf_signal to urd_observer;
