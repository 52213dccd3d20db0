-- A database that was set back without a recovery, as a snapshot of its volume is, has the same system
-- and timeline as before: `note_timeline` sees nothing. What shows it is a signed checkpoint outside of
-- the database, and that says in which epoch it was signed. The sealer calls this with it.

create function urd.leave_epoch(p_realm text, p_epoch integer) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    update urd.realm_log set epoch = p_epoch + 1 where realm = p_realm and epoch <= p_epoch;
end $$;

revoke all on function urd.leave_epoch from public;
grant execute on function urd.leave_epoch to urd_app;
