-- What an analyst asks for is compared with rows of the realm alone, and is estimated by nothing that other realms have
-- (decision 0160). Read models have their own part of it.

create or replace view analyst.deliveries_v1 with (security_barrier) as
    select d.subscription, d.position, d.type, d.at, d.milliseconds, d.status, d.outcome, d.replay
    from urd.delivery_attempt d
    where d.realm = (select analyst.realm())
    offset 0;

-- The open fields of an event of the realm of the analyst who asks. A function of its own, because a barrier would open those
-- of each event before it asks which are wanted.
create function analyst.open_fields(p_position bigint) returns json
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select coalesce(json_object_agg(d.key, d.value), '{}')
    from urd.event e cross join lateral json_each(e.data) d
    join urd.event_field f on f.type = e.type and f.field = d.key and f.visibility = 'open'
    where e.realm = (select analyst.realm()) and e.position = p_position
$$;
revoke all on function analyst.open_fields from public;
grant execute on function analyst.open_fields to urd_analyst;

-- What a definition names in `urd`, named in a build's schema.
create or replace function urd.as_of_text(p_id uuid, p_position bigint, p_text text) returns text
language sql immutable set search_path = pg_catalog, pg_temp
return replace(
    regexp_replace(
        regexp_replace(
            regexp_replace(
                replace(p_text, 'urd.analyst_trail', urd.as_of_schema(p_id) || '.analyst_trail'),
                '\murd\.audit_trail_[0-9]+\M',
                -- The log is its own trail.
                format(
                    '(select e.realm, least(e.position) as position, e.at, e.stream, e.subject, e.type, e.meta ->> ''actor'' as actor, '
                        'e.meta ->> ''client'' as client, e.meta ->> ''correlation'' as correlation '
                        'from urd.event e where e.position <= %s)', p_position), 'g'),
            format('\murd\.(%s)_[0-9]+(?![0-9])', array_to_string(urd.as_of_projections(), '|')),
            urd.as_of_schema(p_id) || '.\1', 'g'),
        format('\murd\.(%s)\M', array_to_string(urd.as_of_projections(), '|')),
        urd.as_of_schema(p_id) || '.\1', 'g'),
    'analyst.realm()', format('analyst.realm_at(%L::uuid)', p_id));

-- Lets analysts of the realm see a build whose read models are all done. False: it is another's, or not wanted.
create or replace function urd.show_as_of(p_realm text, p_id uuid, p_maker uuid) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_schema text := urd.as_of_schema(p_id);
    v_position bigint;
    v_view record;
    v_comment record;
begin
    select b.position into v_position from urd.as_of_build b
        where b.realm = p_realm and b.id = p_id and b.state = 'running' and b.leased_by = p_maker
        for update;
    if not found or exists (
        select from urd.as_of_part p where p.realm = p_realm and p.id = p_id and p.stage <> 'done')
    then
        return false;
    end if;
    for v_view in
        select c.oid, c.relname as name, pg_get_viewdef(c.oid) as definition,
            coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '') as options
        from pg_class c
        where c.relkind = 'v' and (c.oid = to_regclass('urd.analyst_trail')
            or c.relnamespace = 'analyst'::regnamespace
            and pg_get_viewdef(c.oid) ~ format('\murd\.(analyst_trail|(audit_trail|%s)_[0-9])',
                array_to_string(urd.as_of_projections(), '|')))
        -- What others are made of comes first.
        order by c.relname <> 'analyst_trail'
    loop
        execute format('create view %I.%I%s as %s', v_schema, v_view.name, v_view.options,
            urd.as_of_text(p_id, v_position, v_view.definition));
        continue when v_view.name = 'analyst_trail';
        for v_comment in
            select a.attname, replace(d.description, 'as it is now', 'as it was') as words
            from pg_description d
            left join pg_attribute a on a.attrelid = d.objoid and a.attnum = d.objsubid
                and d.objsubid > 0
            where d.objoid = v_view.oid and d.classoid = 'pg_class'::regclass
        loop
            execute format('comment on %s %I.%I%s is %L',
                case when v_comment.attname is null then 'view' else 'column' end, v_schema,
                v_view.name, coalesce('.' || quote_ident(v_comment.attname), ''), v_comment.words);
        end loop;
        execute format('grant select on %I.%I to urd_analyst', v_schema, v_view.name);
    end loop;
    execute format('grant usage on schema %I to urd_analyst, urd_app', v_schema);
    execute format('grant select on %1$I.accounts, %1$I.sessions, %1$I.clients, %1$I.passkeys, '
        '%1$I.credentials to urd_app', v_schema);
    update urd.as_of_build b set state = 'ready', finished_at = now(), leased_by = null
        where b.realm = p_realm and b.id = p_id;
    return true;
end $$;
