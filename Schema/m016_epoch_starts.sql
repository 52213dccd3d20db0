-- Where each epoch of a realm began, so that a reader who comes back with a place of an earlier epoch
-- goes on in silence, or is told from where on the log is another one.

create table urd.epoch (
    realm text collate "C" not null,
    epoch integer not null,
    -- What this epoch shares with every earlier one: all positions up to this one.
    began_after bigint not null,
    began_at timestamptz not null default now(),
    primary key (realm, epoch)
);

-- Nothing is known of the epochs before this migration: their readers begin again.
insert into urd.epoch (realm, epoch, began_after)
    select h.realm, h.epoch, 0 from urd.realm_log h where h.epoch > 1;

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

-- Two logs that go on from one copy must not count the same epochs. Where no timeline tells them
-- apart, chance does.
create function urd.epoch_step() returns integer
language sql volatile set search_path = pg_catalog, pg_temp as $$
    select 1000 + floor(random() * 99000)::integer;
$$;

-- As m013 has it, but for the step to another system.
create or replace function urd.note_timeline() returns void
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

-- As m014 has it, but for the step. Events may have been appended since the database was set back and before that was
-- noticed: only what the database's own last checkpoint covers is known to be in both logs.
create or replace function urd.leave_epoch(p_realm text, p_epoch integer) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_left integer;
begin
    update urd.realm_log set epoch = p_epoch + urd.epoch_step()
        where realm = p_realm and epoch <= p_epoch returning epoch into v_left;
    if found then
        update urd.epoch e set began_after = least(e.began_after, coalesce(
                (select max(c.size) from urd.checkpoint c where c.realm = p_realm), 0))
            where e.realm = p_realm and e.epoch = v_left;
    end if;
end $$;

revoke all on function urd.note_epoch, urd.epoch_step from public;
grant select on urd.epoch to urd_app, urd_observer;
