-- How often a key of a subject was destroyed in a realm: what a node keeps of people, sealed, it opens only where
-- this is what it was when the node read it (decision 0152).
alter table urd.realm_log add column erasures bigint not null default 0;

create function urd.note_erasure(p_realm text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    update urd.realm_log set erasures = erasures + 1 where realm = p_realm;
end $$;

revoke all on function urd.note_erasure from public;
grant execute on function urd.note_erasure to urd_app;
