-- When backups were written: `urd backup` notes each when it is whole and has its name. So the age of the last one is
-- known wherever the database is asked, and a database that was restored knows of those before it alone.

create table urd.backup (
    -- The moment that it holds.
    at timestamptz primary key,
    bytes bigint not null check (bytes > 0),
    encrypted boolean not null
);

grant select on urd.backup to urd_app, urd_observer;
