-- Append in fewer statements, and without what each of them costs to begin: for a command alone that is nearly all of
-- it. Signatures and outcomes stay, so that nodes of the build before go on beside those of this one.
--
-- Arrays are unnested in the list of what is selected, row by row. As functions to select from, each of
-- them is copied into a store of its own first.

-- As before (append_all.sql): appends a batch of commands that are all supposed to win. Where there is nothing an array
-- may be null, which costs less than an empty one.
create or replace function urd.append_all(
    p_realm text, p_epoch integer, p_types text[], p_macs uuid[], s_subject uuid[], s_key uuid[],
    c_command uuid[], c_digest bytea[], c_at timestamptz[], c_events integer[], c_before integer[],
    a_stream uuid[], a_version integer[], n_stream uuid[], n_events integer[],
    m_stream uuid[], m_version integer[], m_events integer[],
    t_kind text[], t_key bytea[], t_stream uuid[], l_kind text[], l_key bytea[], l_stream uuid[],
    e_stream uuid[], e_version integer[], e_type text[], e_revision smallint[], e_at timestamptz[],
    e_command uuid[], e_subject uuid[], e_leaf bytea[], e_mac bytea[], e_meta json[], e_data json[],
    e_sealed bytea[],
    out o_epoch integer, out o_first bigint
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
    v_count integer := coalesce(cardinality(e_stream), 0);
    v_attached text[];
    v_has_keys boolean;
    v_has_moved boolean;
begin
    if p_epoch = 0 then
        insert into urd.realm_log (realm) values (p_realm) on conflict do nothing;
    end if;
    -- From here on the realm is locked.
    update urd.realm_log set position = position + v_count where realm = p_realm
        returning position - v_count + 1, epoch, attached into o_first, o_epoch, v_attached;
    if not found or (p_epoch <> o_epoch and p_epoch <> 0) then
        raise exception 'the epoch has changed' using errcode = 'UR001';
    end if;

    -- By a statement that begins behind the lock, and sees what was committed before it.
    select p_macs <@ array(
                select k.id from urd.realm_key k where k.realm = p_realm and k.purpose = 'mac'),
            exists (
                select from (
                    select unnest(a_stream || m_stream) as stream,
                        unnest(a_version || m_version) as version) a
                where a.version <> coalesce((select s.version from urd.stream s
                    where s.realm = p_realm and s.stream = a.stream), 0))
        into v_has_keys, v_has_moved;
    if v_has_keys and s_subject <> '{}' then
        v_has_keys := not exists (
            select from (select unnest(s_subject) as subject, unnest(s_key) as key) s
            where s.key is distinct from (
                select x.id from urd.subject_key x where x.realm = p_realm
                    and x.subject = s.subject and x.wrapped is not null));
    end if;
    if not v_has_keys then
        raise exception 'a key is not in the database' using errcode = 'UR004';
    end if;
    if v_has_moved then
        raise exception 'a stream has moved on' using errcode = 'UR003';
    end if;

    -- As a proposal, which is always a look-up: a join would be free to read all streams.
    if m_stream <> '{}' then
        insert into urd.stream (realm, stream, version)
            select p_realm, unnest(m_stream), unnest(m_version) + unnest(m_events)
            on conflict (realm, stream) do update set version = excluded.version;
    end if;
    if n_stream <> '{}' then
        insert into urd.stream (realm, stream, version)
            select p_realm, unnest(n_stream), unnest(n_events);
    end if;

    insert into urd.command (realm, command, position, events, digest, at)
        select p_realm, unnest(c_command), o_first + unnest(c_before), unnest(c_events),
            unnest(c_digest), unnest(c_at);

    for i in 1 .. coalesce(cardinality(l_kind), 0) loop
        delete from urd.claim x where x.realm = p_realm and x.kind = l_kind[i]
            and x.key = l_key[i] and x.stream = l_stream[i];
    end loop;
    if t_kind <> '{}' then
        insert into urd.claim (realm, kind, key, stream)
            select p_realm, unnest(t_kind), unnest(t_key), unnest(t_stream);
    end if;
    if v_count = 0 then
        return;
    end if;

    insert into urd.event (
        realm, position, stream, version, type, revision, at, command, subject, leaf, mac, meta,
        data, sealed)
        select p_realm, generate_series(o_first, o_first + v_count - 1), unnest(e_stream),
            unnest(e_version), unnest(e_type), unnest(e_revision), unnest(e_at), unnest(e_command),
            unnest(e_subject), unnest(e_leaf), unnest(e_mac), unnest(e_meta), unnest(e_data),
            unnest(e_sealed);

    perform urd.apply_attached(p_realm, o_first, o_first + v_count - 1, p_types, v_attached);
end $$;

-- The calls of these builds, in the order of their names, as a tree of comparisons that finds one of them in a few steps.
create function urd.build_calls(p_builds text[]) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
    v_half integer := cardinality(p_builds) / 2;
begin
    return case cardinality(p_builds)
        when 0 then 'null;'
        when 1 then format(
            'perform urd.%I(p_realm, p_first, p_last, p_types);', p_builds[1] || '_apply')
        else format(
            E'if v_build < %L then\n%s\nelse\n%s\nend if;', p_builds[v_half + 1],
            urd.build_calls(p_builds[:v_half]), urd.build_calls(p_builds[v_half + 1:]))
    end;
end $$;
revoke all on function urd.build_calls from public;

-- Writes `apply_attached` anew, whenever builds come or go: with a call for each inline build, so
-- that it keeps its plan. Which builds look at an event is found by its type: a condition for each build would be
-- made ready for each append. Append calls it under the head lock, which also keeps builds from being
-- attached or detached meanwhile. Builds that a session's text does not have yet are called all the same.
create or replace function urd.bind_builds() returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
    v_known text[];
    v_always text[];
    v_types jsonb;
begin
    perform from urd.lock_row l where l.name = 'bind_builds' for update;
    select coalesce(array_agg(b.name order by b.name), '{}'),
            coalesce(array_agg(b.name order by b.name) filter (where b.types is null), '{}')
        into v_known, v_always
        from (select (projection || '_' || build) collate "C" as name, types
            from urd.projection_build where inline) b;
    select coalesce(jsonb_object_agg(t.type, t.builds::text), '{}') into v_types
        from (select t.type, array_agg(b.projection || '_' || b.build
                order by (b.projection || '_' || b.build) collate "C") as builds
            from urd.projection_build b cross join unnest(b.types) as t (type)
            where b.inline group by t.type) t;
    execute format($body$
create or replace function urd.apply_attached(
    p_realm text, p_first bigint, p_last bigint, p_types text[], p_attached text[]) returns void
language plpgsql volatile as $function$
declare
    v_type text;
    v_more text[];
    v_due text[] := %1$L;
    v_build text collate "C";
begin
    if p_first = 1 then
        p_attached := urd.enroll_realm(p_realm);
    end if;
    foreach v_type in array p_types loop
        v_more := (%2$L::jsonb ->> v_type)::text[];
        if v_due = '{}' then
            v_due := coalesce(v_more, '{}');
        elsif not v_more <@ v_due then
            v_due := array(select distinct d.build collate "C"
                from unnest(v_due || v_more) as d (build) order by 1);
        end if;
    end loop;
    foreach v_build in array v_due loop
        continue when v_build <> all (p_attached);
%3$s
    end loop;
    if p_attached <> %4$L and not p_attached <@ %4$L then
        foreach v_build in array p_attached loop
            if v_build <> all (%4$L::text[]) then
                execute format('select urd.%%I($1, $2, $3, $4)', v_build || '_apply')
                    using p_realm, p_first, p_last, p_types;
            end if;
        end loop;
    end if;
end $function$ $body$, v_always, v_types, urd.build_calls(v_known), v_known);
end $$;
select urd.bind_builds();
