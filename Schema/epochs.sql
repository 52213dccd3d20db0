-- A fence after a failover or a restore: what nodes believe to be the tail of a log may be gone, and then every
-- realm moves to a new epoch.

-- Which server history the epochs belong to. A promotion or a restore starts another timeline; a
-- dump that is loaded elsewhere has another system.
create table urd.timeline (
    only_one boolean primary key default true check (only_one),
    system bigint not null,
    timeline text not null
);

-- Where each epoch of a realm began, so that a reader who comes back with a place of an earlier epoch
-- goes on in silence, or is told from where on the log is another one.
create table urd.epoch (
    realm text collate "C" not null,
    epoch integer not null,
    -- What this epoch shares with every earlier one: all positions up to this one.
    began_after bigint not null,
    began_at timestamptz not null default now(),
    -- Whether it began with a loss that is known: something was signed that the log of the epoch does not have. Those
    -- that send events to others have to tell them of it, although it is not remembered any more how far they were
    -- sent. A failover begins an epoch as well, mostly without a loss, and then there is nothing to tell.
    lost boolean not null default false,
    primary key (realm, epoch)
);

-- A trigger, because there are several ways to another epoch and there must be no way past this.
-- Append never names the epoch's column, so it never fires for it.
create function urd.note_epoch() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    insert into urd.epoch (realm, epoch, began_after) values (new.realm, new.epoch, new.position)
        on conflict (realm, epoch) do update
            set began_after = least(epoch.began_after, excluded.began_after);
    return null;
end $$;

create trigger realm_log_epoch after update of epoch on urd.realm_log
    for each row when (old.epoch is distinct from new.epoch) execute function urd.note_epoch();

create function urd.advance_epoch(p_realm text) returns integer
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    update urd.realm_log set epoch = epoch + 1 where realm = p_realm returning epoch;
$$;

-- Two logs that go on from one copy must not count the same epochs. Where no timeline tells them
-- apart, chance does.
create function urd.epoch_step() returns integer
language sql volatile set search_path = pg_catalog, pg_temp as $$
    select 1000 + floor(random() * 99000)::integer;
$$;

-- Called by every connection that appends. Where another history than the one noted is found, each realm moves to
-- a new epoch.
--
-- A standby may be promoted that lost the last epoch together with the tail of the log: counted one
-- by one, it would give the same number to another log. Within one system the epoch moves as far as
-- the timeline did, which PostgreSQL never gives twice to servers that know of each other.
create function urd.note_timeline() returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_system bigint := (select system_identifier from pg_control_system());
    v_timeline text := substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8);
    v_noted_system bigint;
    v_noted_timeline text;
    v_step integer;
    v_realm text;
begin
    if exists (
        select from urd.timeline t where t.system = v_system and t.timeline = v_timeline) then
        return;
    end if;
    insert into urd.timeline (system, timeline) values (v_system, v_timeline)
        on conflict (only_one) do nothing;
    if found then
        return;
    end if;
    select t.system, t.timeline into v_noted_system, v_noted_timeline from urd.timeline t for update;
    -- Another session was faster.
    if v_noted_system = v_system and v_noted_timeline = v_timeline then
        return;
    end if;
    if v_noted_system = v_system then
        v_step := greatest(1, ('x' || v_timeline)::bit(32)::integer
            - ('x' || v_noted_timeline)::bit(32)::integer);
    else
        v_step := urd.epoch_step();
    end if;
    update urd.timeline set system = v_system, timeline = v_timeline;
    for v_realm in select h.realm from urd.realm_log h order by h.realm loop
        update urd.realm_log set epoch = epoch + v_step where realm = v_realm;
    end loop;
end $$;

-- A database that was set back without a recovery, as a snapshot of its volume is, has the same system
-- and timeline as before: `note_timeline` sees nothing. What shows it is a signed checkpoint outside of
-- the database, and that says in which epoch it was signed. The sealer calls this with it.
create function urd.leave_epoch(p_realm text, p_epoch integer) returns void
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

revoke all on function urd.note_epoch, urd.advance_epoch, urd.epoch_step, urd.note_timeline, urd.leave_epoch
    from public;
grant execute on function urd.note_timeline, urd.leave_epoch to urd_app;
grant select on urd.epoch to urd_app, urd_observer;
