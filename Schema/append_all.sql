-- Appends a batch of commands that are all supposed to win, in the fewest and plainest statements: no
-- outcome is worked out, and what can only be inserted once is not looked for before. Where a command
-- loses, or a read model cannot take an event, an error is raised, everything is rolled back, and the
-- caller asks urd.append, which judges each command.
--
-- Streams come in three kinds: `a` are relied on, each once, however many commands rely on it; `n` are begun, and
-- `m` moved on from a version. Of claims, `t` are taken and `l` let go. `p_types`: the types of all
-- events, each once. `s`: the keys that events are sealed under, each with its subject and once; they are
-- looked for by the statement that takes the realm's lock. The rest is as in urd.append.

create function urd.append_all(
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
begin
    if p_epoch = 0 then
        insert into urd.realm_log (realm) values (p_realm) on conflict do nothing;
    end if;
    -- From here on the realm is locked.
    update urd.realm_log set position = position + v_count where realm = p_realm
        returning position - v_count + 1, epoch, attached,
            (select count(*) from urd.realm_key k where k.realm = p_realm and k.purpose = 'mac'
                and k.id = any (p_macs)) = cardinality(p_macs)
            and not exists (
                select from unnest(s_subject, s_key) as s (subject, key)
                where s.key is distinct from (
                    select x.id from urd.subject_key x where x.realm = p_realm
                        and x.subject = s.subject and x.wrapped is not null))
        into o_first, o_epoch, v_attached, v_has_keys;
    if not found or (p_epoch <> o_epoch and p_epoch <> 0) then
        raise exception 'the epoch has changed' using errcode = 'UR001';
    end if;
    if not v_has_keys then
        raise exception 'a key is not in the database' using errcode = 'UR004';
    end if;

    if a_stream <> '{}' then
        perform from unnest(a_stream, a_version) as a (stream, version)
            where a.version <> coalesce((select s.version from urd.stream s
                where s.realm = p_realm and s.stream = a.stream), 0);
        if found then
            raise exception 'a stream has moved on' using errcode = 'UR003';
        end if;
    end if;
    for i in 1 .. coalesce(cardinality(m_stream), 0) loop
        update urd.stream set version = version + m_events[i]
            where realm = p_realm and stream = m_stream[i] and version = m_version[i];
        if not found then
            raise exception 'a stream has moved on' using errcode = 'UR003';
        end if;
    end loop;
    if n_stream <> '{}' then
        insert into urd.stream (realm, stream, version)
            select p_realm, n.stream, n.events
            from unnest(n_stream, n_events) as n (stream, events);
    end if;

    insert into urd.command (realm, command, position, events, digest, at)
        select p_realm, c.command, o_first + c.before, c.events, c.digest, c.at
        from unnest(c_command, c_digest, c_events, c_at, c_before)
            as c (command, digest, events, at, before);

    for i in 1 .. coalesce(cardinality(l_kind), 0) loop
        delete from urd.claim x where x.realm = p_realm and x.kind = l_kind[i]
            and x.key = l_key[i] and x.stream = l_stream[i];
    end loop;
    if t_kind <> '{}' then
        insert into urd.claim (realm, kind, key, stream)
            select p_realm, t.kind, t.key, t.stream
            from unnest(t_kind, t_key, t_stream) as t (kind, key, stream);
    end if;
    if v_count = 0 then
        return;
    end if;

    insert into urd.event (
        realm, position, stream, version, type, revision, at, command, subject, leaf, mac, meta,
        data, sealed)
        select p_realm, o_first + e.number - 1, e.stream, e.version, e.type, e.revision, e.at,
            e.command, e.subject, e.leaf, e.mac, e.meta, e.data, e.sealed
        from unnest(
                e_stream, e_version, e_type, e_revision, e_at, e_command, e_subject, e_leaf, e_mac,
                e_meta, e_data, e_sealed)
            with ordinality as e (stream, version, type, revision, at, command, subject, leaf, mac,
                meta, data, sealed, number);

    perform urd.apply_attached(p_realm, o_first, o_first + v_count - 1, p_types, v_attached);
end $$;

revoke all on function urd.append_all from public;
grant execute on function urd.append_all to urd_app;
