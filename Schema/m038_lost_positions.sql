-- A row that says how far a live read model is in a realm may get lost while what it speaks of is there. To begin anew at
-- the beginning of the log would apply all events a second time, to rows that have them already: it would halt there, or
-- count double.

-- As m004 has it. New: a live build that append moves all the while goes on where the log ends; any other is emptied in that
-- realm and filled anew in the same transaction, so that nobody sees a part of it (mails that were sent long ago).
create or replace function urd.enroll() returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
set max_parallel_workers_per_gather = 0 as $$
declare
    v_new integer;
    v_at record;
    v_attached text[];
    v_goes_on boolean;
    v_table regclass;
begin
    insert into urd.projection_position (realm, projection, build)
        select h.realm, b.projection, b.build
        from urd.realm_log h cross join urd.projection_build b
        where h.position > 0 and b.status = 'building' and not exists (
            select from urd.projection_position p
            where p.realm = h.realm and p.projection = b.projection and p.build = b.build)
        on conflict do nothing;
    get diagnostics v_new = row_count;
    for v_at in
        select h.realm, b.projection, b.build, b.inline, b.projection || '_' || b.build as name
        from urd.realm_log h cross join urd.projection_build b
        where h.position > 0 and b.status = 'live' and not exists (
            select from urd.projection_position p
            where p.realm = h.realm and p.projection = b.projection and p.build = b.build)
        order by h.realm, b.projection
    loop
        v_goes_on := false;
        if v_at.inline then
            select h.attached into v_attached from urd.realm_log h
                where h.realm = v_at.realm for no key update;
            v_goes_on := v_at.name = any (v_attached);
        end if;
        insert into urd.projection_position (realm, projection, build, attached)
            values (v_at.realm, v_at.projection, v_at.build, v_goes_on)
            on conflict do nothing;
        continue when not found;
        v_new := v_new + 1;
        continue when v_goes_on;
        for v_table in
            select c.oid from pg_class c
            where c.relnamespace = 'urd'::regnamespace and c.relkind = 'r'
                and c.relname ~ ('^' || v_at.name || '(_[a-z_]+)?$')
        loop
            execute format('delete from %s t where t.realm = $1', v_table) using v_at.realm;
        end loop;
        perform from urd.project(v_at.realm, v_at.projection, v_at.build, 2147483647);
    end loop;
    return v_new;
end $$;
