-- Epochs that two histories of one server never share.
--
-- A standby may be promoted that lost the last epoch together with the tail of the log: counted one
-- by one, it would give the same number to another log. Within one system the epoch moves as far as
-- the timeline did, which PostgreSQL never gives twice to servers that know of each other.

create or replace function urd.note_timeline() returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_system bigint := (select system_identifier from pg_control_system());
    v_timeline text := substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8);
    v_noted_system bigint;
    v_noted_timeline text;
    v_step integer := 1;
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
    -- Somebody else was faster.
    if v_noted_system = v_system and v_noted_timeline = v_timeline then
        return;
    end if;
    if v_noted_system = v_system then
        v_step := greatest(1, ('x' || v_timeline)::bit(32)::integer
            - ('x' || v_noted_timeline)::bit(32)::integer);
    end if;
    update urd.timeline set system = v_system, timeline = v_timeline;
    for v_realm in select h.realm from urd.realm_log h order by h.realm loop
        update urd.realm_log set epoch = epoch + v_step where realm = v_realm;
    end loop;
end $$;
