-- Keys, always wrapped: a master key outside the database wraps the keys of a realm, and the
-- realm's wrapping key wraps one data key for each subject. To erase a subject is to destroy its
-- data key; the row stays without it, so that no new key can take its place.

create table urd.realm_key (
    realm text collate "C" not null,
    -- wrap: wraps subject keys. index: blind keys of claims. mac: shows who wrote a leaf.
    -- derive: secrets that can be given again without being stored. sign: signs checkpoints.
    purpose text collate "C" not null
        check (purpose in ('wrap', 'index', 'mac', 'derive', 'sign')),
    version integer not null,
    -- Which master key wraps it: the first bytes of that key's digest.
    master bytea not null,
    wrapped bytea not null,
    created_at timestamptz not null default now(),
    primary key (realm, purpose, version)
);

create table urd.subject_key (
    realm text collate "C" not null,
    subject uuid not null,
    -- The version of the realm's wrapping key. Null once the subject is erased.
    wrapped_by integer,
    wrapped bytea,
    erased_at timestamptz,
    primary key (realm, subject),
    check ((wrapped is null) = (erased_at is not null) and (wrapped is null) = (wrapped_by is null))
);

grant select, insert, update, delete on urd.realm_key to urd_app;
grant select, insert, update on urd.subject_key to urd_app;
