-- Policies that were tried on past sign-ins, and how far each is. A result stands here once it is whole, for a day;
-- it names accounts by their ids alone.

create table urd.what_if (
    realm text collate "C" not null,
    id uuid not null,
    state text not null default 'waiting'
        check (state in ('waiting', 'running', 'ready', 'failed', 'cancelled')),
    -- Who asked, and for what.
    asker text not null,
    question jsonb not null,
    epoch integer not null,
    asked_at timestamptz not null,
    -- What was come to by the last position that was kept: another node goes on from there.
    position bigint not null default 0,
    progress bytea,
    -- How far a node looked that may be gone.
    scanned bigint not null default 0,
    result bytea,
    fault text,
    finished_at timestamptz,
    -- The one node that makes it, by the database's clock: when it is gone, another goes on.
    leased_by uuid,
    lease_until timestamptz,
    primary key (realm, id)
);

create index what_if_unfinished on urd.what_if (asked_at) where state in ('waiting', 'running');

-- Nothing in `progress` is worth compressing twice. (PostgreSQL 15 has no word for it in `create table`.)
alter table urd.what_if alter column progress set storage external;

grant select, insert, update, delete on urd.what_if to urd_app;
