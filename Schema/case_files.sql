-- Case files that were asked for, and how far each is made. Nothing of what is in them stands here: a file is
-- made from the log whenever it is handed out, and `chain`, the hash of all its lines, says whether it is still
-- the same.

create table urd.case_file (
    realm text collate "C" not null,
    id uuid not null,
    state text not null default 'waiting'
        check (state in ('waiting', 'running', 'ready', 'failed', 'cancelled')),
    -- Who asked, and for what.
    asker text not null,
    question jsonb not null,
    epoch integer not null,
    asked_at timestamptz not null,
    -- What the lines are proven against: a signed note, from when the log is sealed far enough.
    checkpoint bytea,
    -- The last record that was written, and the hash of all lines up to it.
    position bigint not null default 0,
    chain bytea,
    lines bigint not null default 0,
    records bigint not null default 0,
    opened bigint not null default 0,
    fault text,
    finished_at timestamptz,
    -- The one node that makes it, by the database's clock: when it is gone, another goes on.
    leased_by uuid,
    lease_until timestamptz,
    primary key (realm, id)
);

create index case_file_unfinished on urd.case_file (asked_at) where state in ('waiting', 'running');

grant select, insert, update, delete on urd.case_file to urd_app;
