-- What shows that the log was not rewritten: the tree over each realm's events, kept as C2SP tiles,
-- and the checkpoints that were signed over it. Both only ever grow. A change of an event takes a
-- change of a tile, of a signed checkpoint, and of the copy of the last one that lies outside the database.

-- A full tile: 256 hashes of one level, side by side. Level 0 holds the leaves of 256 events; each
-- hash of a level above is the root of one tile below. Unfinished tiles are made when asked for.
create table urd.tile (
    realm text collate "C" not null,
    level smallint not null check (level between 0 and 6),
    index bigint not null check (index >= 0),
    hashes bytea not null check (octet_length(hashes) = 8192),
    primary key (realm, level, index)
);
-- Hashes do not compress: do not try. (PostgreSQL 15 has no word for it in `create table`.)
alter table urd.tile alter column hashes set storage external;

-- Each checkpoint that was signed. The note is what counts; size and root are there to find it.
create table urd.checkpoint (
    realm text collate "C" not null,
    size bigint not null check (size > 0),
    root bytea not null check (octet_length(root) = 32),
    note text not null,
    at timestamptz not null default now(),
    primary key (realm, size)
);

create trigger tile_is_append_only before update or delete or truncate on urd.tile
    for each statement execute function urd.refuse_change();
create trigger checkpoint_is_append_only before update or delete or truncate on urd.checkpoint
    for each statement execute function urd.refuse_change();

-- How far each realm is sealed, and the row that a node locks while it seals the realm.
create table urd.seal (
    realm text collate "C" primary key,
    size bigint not null default 0
) with (fillfactor = 50);

grant select, insert on urd.tile, urd.checkpoint to urd_app;
grant select, insert, update on urd.seal to urd_app;
grant select on urd.tile, urd.checkpoint, urd.seal to urd_observer;
