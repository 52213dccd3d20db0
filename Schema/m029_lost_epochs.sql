-- Which epochs began with a loss that is known: something was signed that the log of the epoch does not have.
--
-- Who sends events to others has to tell them of it, although nobody remembers any more how far they were sent. A
-- failover begins an epoch as well, mostly without a loss, and then there is nothing to tell.

alter table urd.epoch add column lost boolean not null default false;

-- As m016 has it, but that the loss is noted.
create or replace function urd.leave_epoch(p_realm text, p_epoch integer) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_known boolean;
    v_left integer;
begin
    select e.lost into v_known from urd.realm_log h
        join urd.epoch e on e.realm = h.realm and e.epoch = h.epoch where h.realm = p_realm;
    update urd.realm_log set epoch = p_epoch + urd.epoch_step()
        where realm = p_realm and epoch <= p_epoch returning epoch into v_left;
    if not found then
        -- A new timeline of PostgreSQL began it before the loss was seen.
        update urd.epoch e set lost = true
            where e.realm = p_realm and not e.lost and e.epoch = (
                select min(x.epoch) from urd.epoch x where x.realm = p_realm and x.epoch > p_epoch);
    elsif v_known is not true then
        -- Events may have been appended since the database was set back and before that was noticed: only what the
        -- database's own last checkpoint covers is known to be in both logs.
        update urd.epoch e set lost = true, began_after = least(e.began_after, coalesce(
                (select max(c.size) from urd.checkpoint c where c.realm = p_realm), 0))
            where e.realm = p_realm and e.epoch = v_left;
    end if;
    -- Otherwise an operator accepts a loss that is known already: all that was appended since is in the log.
end $$;
