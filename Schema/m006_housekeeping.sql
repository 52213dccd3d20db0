-- What the log needs beside appending: a fence after failover or restore, and forgetting the
-- outcomes of commands that nobody will repeat.

-- Which server history the epochs belong to. A promotion or a restore starts another timeline; a
-- dump that is loaded elsewhere has another system.
create table urd.timeline (
    only_one boolean primary key default true check (only_one),
    system bigint not null,
    timeline text not null
);

-- Called by every connection that appends. Another history than the one noted: what nodes believe
-- to be the tail of a log may be gone, so every realm moves to a new epoch.
create function urd.note_timeline() returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_system bigint := (select system_identifier from pg_control_system());
    v_timeline text := substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8);
begin
    if exists (
        select from urd.timeline t where t.system = v_system and t.timeline = v_timeline) then
        return;
    end if;
    insert into urd.timeline (system, timeline) values (v_system, v_timeline)
        on conflict (only_one) do nothing;
    if not found then
        perform 1 from urd.timeline for update;
        if not exists (
            select from urd.timeline t where t.system = v_system and t.timeline = v_timeline) then
            update urd.timeline set system = v_system, timeline = v_timeline;
            perform urd.advance_epoch(h.realm) from urd.realm_log h order by h.realm;
        end if;
    end if;
end $$;

create function urd.advance_epoch(p_realm text) returns integer
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    update urd.realm_log set epoch = epoch + 1 where realm = p_realm returning epoch;
$$;

-- The outcomes of one realm's commands older than a week. The block range index on the time keeps
-- this off the young rows.
create function urd.forget_commands(p_realm text) returns bigint
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    with gone as (
        delete from urd.command c
            where c.realm = p_realm and c.at < now() - interval '7 days' returning 1)
    select count(*) from gone;
$$;

revoke all on function urd.note_timeline, urd.advance_epoch, urd.forget_commands from public;
grant execute on function urd.note_timeline, urd.forget_commands to urd_app;
