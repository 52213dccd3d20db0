-- How a whole realm as of a moment is shown and dropped.

-- Lets analysts of the realm see a build whose read models are all done. False: it is another's, or not wanted.
create function urd.show_as_of(p_realm text, p_id uuid, p_maker uuid) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_schema text := urd.as_of_schema(p_id);
begin
    perform from urd.as_of_build b
        where b.realm = p_realm and b.id = p_id and b.state = 'running' and b.leased_by = p_maker
        for update;
    if not found or exists (
        select from urd.as_of_part p where p.realm = p_realm and p.id = p_id and p.stage <> 'done')
    then
        return false;
    end if;
    execute format('grant usage on schema %I to urd_analyst, urd_app', v_schema);
    execute format('grant select on %1$I.accounts, %1$I.session_ends, %1$I.clients, %1$I.passkeys, '
        '%1$I.credentials to urd_app', v_schema);
    update urd.as_of_build b set state = 'ready', finished_at = now(), leased_by = null
        where b.realm = p_realm and b.id = p_id;
    return true;
end $$;

-- Drops the schemas of builds that are not wanted any more. One that is read stays for the next sweep; its views show
-- nothing from the moment on that it was cancelled or its hour was over.
create function urd.sweep_as_of() returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
declare
    v_schema text;
    v_dropped integer := 0;
begin
    perform from urd.lock_row l where l.name = 'sweep_as_of' for update skip locked;
    if not found then
        return 0;
    end if;
    update urd.as_of_build b set state = 'expired'
        where b.state = 'ready' and b.finished_at < now() - interval '1 hour';
    for v_schema in
        select n.nspname from pg_namespace n
        where n.nspname ~ '^analyst_at_[0-9a-f]{32}$' and not exists (
            select from urd.as_of_build b
            where b.id = right(n.nspname, 32)::uuid and b.state in ('waiting', 'running', 'ready'))
    loop
        begin
            perform set_config('lock_timeout', '250ms', true);
            execute format('drop schema %I cascade', v_schema);
            delete from urd.as_of_part p where p.id = right(v_schema, 32)::uuid;
            delete from urd.as_of_page g where g.id = right(v_schema, 32)::uuid;
            v_dropped := v_dropped + 1;
        exception when lock_not_available then
            null;
        end;
    end loop;
    -- They are spoken of for a week.
    delete from urd.as_of_build b where b.finished_at < now() - interval '7 days'
        and b.state in ('failed', 'cancelled', 'expired')
        and not exists (select from pg_namespace n where n.nspname = urd.as_of_schema(b.id));
    return v_dropped;
end $$;

revoke all on function urd.show_as_of, urd.sweep_as_of from public;
grant execute on function urd.show_as_of, urd.sweep_as_of to urd_app;
