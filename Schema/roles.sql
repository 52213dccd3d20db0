-- The roles of the database beside the owner of the schema. They are the cluster's, which may have them already.

do $$
declare
    v_role text;
begin
    foreach v_role in array array['urd_app', 'urd_observer'] loop
        if not exists (select from pg_roles where rolname = v_role) then
            execute format('create role %I login', v_role);
        end if;
    end loop;
    if not exists (select from pg_roles where rolname = 'urd_analyst') then
        create role urd_analyst;
    end if;
    -- All roles may make temporary tables in a new database, and so fill its disk. Urd makes none.
    execute format('revoke temporary on database %I from public', current_database());
end $$;

-- Analysts read this one, which holds views and nothing else (docs/analysts/sql.md).
create schema analyst;

grant usage on schema urd to urd_app, urd_observer;
grant usage on schema analyst to urd_analyst;
grant select on urd.migration to urd_app;
