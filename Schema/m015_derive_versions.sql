-- The derive key of a realm can be replaced (decision 0085). What is derived and stays for good, as the
-- name of a mailbox does, is derived from a key of its own: `name`. A realm that is older than this has
-- none until its derive key is replaced for the first time; until then both are one key.

alter table urd.realm_key drop constraint realm_key_purpose_check;
alter table urd.realm_key add constraint realm_key_purpose_check
    check (purpose in ('wrap', 'index', 'mac', 'derive', 'sign', 'name'));

-- Every node accepts what is made under an announced key, and none makes anything under it yet.
alter table urd.realm_key add column announced boolean not null default false;

-- Another number tells nodes that the realm's keys in memory are not the database's any more. It stands
-- beside the head, which every node reads ten times a second.
alter table urd.realm_log add column keys integer not null default 0;

create function urd.note_keys(p_realm text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    update urd.realm_log set keys = keys + 1 where realm = p_realm;
end $$;

revoke all on function urd.note_keys from public;
grant execute on function urd.note_keys to urd_app;
