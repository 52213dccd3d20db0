-- Keys, always wrapped: a master key outside the database wraps the keys of a realm, and the
-- realm's wrapping key wraps one data key for each subject. To erase a subject is to destroy its
-- data key; the row stays without it, so that no new key can take its place.

create table urd.realm_key (
    realm text collate "C" not null,
    -- wrap: wraps subject keys. index: blind keys of claims. mac: shows that the application wrote a leaf.
    -- derive: secrets that can be given again without being stored; it can be replaced (decision 0085).
    -- name: what is derived and stays for good, as the name of a mailbox does. A realm that is older than
    -- this has none until its derive key is replaced for the first time; until then both are one key.
    -- sign: signs checkpoints.
    purpose text collate "C" not null
        check (purpose in ('wrap', 'index', 'mac', 'derive', 'sign', 'name')),
    version integer not null,
    -- Which master key wraps it: the first bytes of that key's digest.
    master bytea not null,
    wrapped bytea not null,
    created_at timestamptz not null default now(),
    -- A name that outlives being wrapped anew, by which append looks for the key.
    id uuid not null default gen_random_uuid(),
    -- Every node accepts what is made under an announced key, and none makes anything under it yet.
    announced boolean not null default false,
    primary key (realm, purpose, version)
);

create table urd.subject_key (
    realm text collate "C" not null,
    subject uuid not null,
    -- The version of the realm's wrapping key. Null once the subject is erased.
    wrapped_by integer,
    wrapped bytea,
    erased_at timestamptz,
    id uuid not null default gen_random_uuid(),
    primary key (realm, subject),
    check ((wrapped is null) = (erased_at is not null) and (wrapped is null) = (wrapped_by is null))
);

-- The keys of a realm are others now.
create function urd.note_keys(p_realm text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    update urd.realm_log set keys = keys + 1 where realm = p_realm;
end $$;

-- A key of a subject was destroyed.
create function urd.note_erasure(p_realm text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    update urd.realm_log set erasures = erasures + 1 where realm = p_realm;
end $$;

revoke all on function urd.note_keys, urd.note_erasure from public;
grant execute on function urd.note_keys, urd.note_erasure to urd_app;
grant select, insert, update, delete on urd.realm_key to urd_app;
grant select, insert, update on urd.subject_key to urd_app;
