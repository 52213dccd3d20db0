-- What analysts are kept from that PostgreSQL would let them do, as far as the owner of the schema can (docs/analysts/sql.md).

-- Makes the schema of a build that a node has for itself. False: it does not have it any more.
create or replace function urd.open_as_of(p_realm text, p_id uuid, p_maker uuid) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_schema text := urd.as_of_schema(p_id);
    v_position bigint;
    v_part record;
    v_parts integer := 0;
begin
    select b.position into v_position from urd.as_of_build b
        where b.realm = p_realm and b.id = p_id and b.state = 'running' and b.leased_by = p_maker
        for update;
    if not found then
        return false;
    end if;
    if exists (select from pg_namespace n where n.nspname = v_schema) then
        return true;
    end if;
    execute format('create schema %I', v_schema);
    for v_part in
        select b.projection, b.types, c.oid::regclass as live,
            format('%I.%I', v_schema, b.projection) as name,
            coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '') as options,
            (select pg_get_functiondef(p.oid) from pg_proc p
                where p.pronamespace = 'urd'::regnamespace
                    and p.proname = b.projection || '_' || b.build || '_apply'
                    and p.pronargs = 4) as apply
        from urd.projection_build b
        join pg_class c on c.relnamespace = 'urd'::regnamespace
            and c.relname = b.projection || '_' || b.build
        where b.status = 'live' and b.projection = any (urd.as_of_projections())
    loop
        execute format(
            'create table %s (like %s including defaults including constraints including storage)%s',
            v_part.name, v_part.live, v_part.options);
        -- Of analysts, who may ask how it would be read although it is another realm's.
        execute (
            select format('alter table %s ', v_part.name)
                || string_agg(format('alter column %I set statistics 0', a.attname), ', ')
            from pg_attribute a
            where a.attrelid = v_part.live and a.attnum > 0 and not a.attisdropped
                and a.attname <> 'realm');
        execute format('create view %s_event as select %s from urd.event e where e.realm = %L',
            v_part.name, urd.as_of_columns(), p_realm);
        execute replace(urd.as_of_text(p_id, v_position, v_part.apply), ' urd.event ',
            format(' %s_event ', v_part.name));
        insert into urd.as_of_part (realm, id, projection, types)
            values (p_realm, p_id, v_part.projection, v_part.types);
        v_parts := v_parts + 1;
    end loop;
    if v_parts < cardinality(urd.as_of_projections()) then
        raise object_not_in_prerequisite_state using
            message = 'read models are missing', hint = 'Build them with: urd migrate';
    end if;
    execute format('revoke all on all functions in schema %I from public', v_schema);
    return true;
end $$;

-- What was gathered of builds that are there cannot be taken away from under their views: they go with the next sweep,
-- and may not be asked for until then.
do $$
declare
    v_schema text;
begin
    update urd.as_of_build b
        set state = case b.state when 'ready' then 'expired' else 'cancelled' end,
            finished_at = coalesce(b.finished_at, now()), leased_by = null
        where b.state in ('running', 'ready');
    for v_schema in
        select n.nspname from pg_namespace n where n.nspname ~ '^analyst_at_[0-9a-f]{32}$'
    loop
        execute format('revoke all on schema %I from urd_analyst', v_schema);
    end loop;
end $$;

-- Ends sessions of analysts that take from all others: one with more than `p_locks` locks in the table that all share, a
-- statement of more than `p_seconds` (a role can lift its own limit), and a transaction that did nothing for twice as
-- long. Who piled up locks cannot connect any more until an operator says so. Says how many sessions ended.
--
-- Where there is no room for another lock it fails as all else does: it is asked before there is none.
create function urd.end_greedy_analysts(p_locks integer, p_seconds integer) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_one record;
    v_ended integer := 0;
begin
    for v_one in
        select a.role, s.pid, s.state, s.query_start, s.state_change
        from urd.analyst a join pg_stat_get_activity(null) s on s.usesysid = to_regrole(quote_ident(a.role))
    loop
        -- Who may end its sessions. A database that was restored has roles of another server.
        if not pg_has_role(current_user, v_one.role, 'usage') then
            begin
                execute format('grant %I to current_user', v_one.role);
            exception when others then
                -- Another made the role.
                null;
            end;
            continue;
        end if;
        if (select count(*) from pg_lock_status() l where l.pid = v_one.pid) > p_locks then
            perform pg_terminate_backend(v_one.pid, 2000);
            v_ended := v_ended + 1;
            begin
                execute format('alter role %I nologin', v_one.role);
            exception when others then
                -- It is ended again when it comes back.
                null;
            end;
        elsif v_one.state = 'active'
                and v_one.query_start < clock_timestamp() - p_seconds * interval '1 second'
            or v_one.state like 'idle in transaction%'
                and v_one.state_change < clock_timestamp() - 2 * p_seconds * interval '1 second'
        then
            perform pg_terminate_backend(v_one.pid);
            v_ended := v_ended + 1;
        end if;
    end loop;
    return v_ended;
end $$;
revoke all on function urd.end_greedy_analysts from public;
grant execute on function urd.end_greedy_analysts to urd_app;
