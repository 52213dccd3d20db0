-- Append refuses what was sealed or authenticated under keys that this database does not have, so that
-- nothing is ever acknowledged that nobody can read: a crash or a failover may take a key away that a node
-- still has in memory (decision 0084). For that, each key has a name that outlives being wrapped anew.
--
-- A key that append sees was committed on this server before, so it is on disk, and on the standbys, no
-- later than what append commits.

alter table urd.realm_key add column id uuid not null default gen_random_uuid();
alter table urd.subject_key add column id uuid not null default gen_random_uuid();

drop function urd.append;
drop function urd.append_all;

-- As m002 has it. New: `p_macs` are the keys that authenticate the batch, `e_key` is the key that an event
-- is sealed under, null where it is not sealed. They are looked for on behalf of those that win: what was
-- committed the first time is answered as that, whatever became of its keys.
create function urd.append(
    p_realm text, p_epoch integer, p_macs uuid[],
    c_command uuid[], c_digest bytea[], c_at timestamptz[], c_events integer[], c_before integer[],
    r_number integer[], r_stream uuid[], r_version integer[], r_events integer[],
    k_number integer[], k_kind text[], k_key bytea[], k_stream uuid[], k_take boolean[],
    e_number integer[], e_offset integer[], e_stream uuid[], e_version integer[], e_type text[],
    e_revision smallint[], e_at timestamptz[], e_command uuid[], e_subject uuid[], e_leaf bytea[],
    e_mac bytea[], e_meta json[], e_data json[], e_sealed bytea[], e_key uuid[],
    out o_epoch integer, out o_first bigint, out o_outcome "char"[], out o_position bigint[],
    out o_events integer[], out o_kind text[]
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
    v_last bigint;
    v_known integer[];
    v_moved integer[];
    v_taken integer[];
    v_taken_kind text[];
    v_has_macs boolean;
    v_keyless integer[];
    -- How many winning events stand before a command; -1 for one that lost.
    v_before integer[] := c_before;
    v_count bigint := coalesce(cardinality(e_number), 0);
    v_attached text[];
begin
    if p_epoch = 0 then
        insert into urd.realm_log (realm) values (p_realm) on conflict do nothing;
    end if;
    select h.position + 1, h.epoch, h.attached,
            (select count(*) from urd.realm_key k where k.realm = p_realm and k.purpose = 'mac'
                and k.id = any (p_macs)) = cardinality(p_macs)
        into o_first, o_epoch, v_attached, v_has_macs
        from urd.realm_log h where h.realm = p_realm for no key update;
    if not found or (p_epoch <> o_epoch and p_epoch <> 0) then
        raise exception 'the epoch has changed' using errcode = 'UR001';
    end if;

    select
        (select array_agg(r.number)
            from unnest(r_number, r_stream, r_version) as r (number, stream, version)
            where r.version <> coalesce((select s.version from urd.stream s
                where s.realm = p_realm and s.stream = r.stream), 0)),
        (select array_agg(c.number)
            from unnest(c_command) with ordinality as c (command, number)
            where (select true from urd.command d
                where d.realm = p_realm and d.command = c.command)),
        (select array_agg(e.number)
            from unnest(e_number, e_subject, e_key) as e (number, subject, key)
            where e.key is not null and e.key is distinct from (
                select x.id from urd.subject_key x where x.realm = p_realm
                    and x.subject = e.subject and x.wrapped is not null))
        into v_moved, v_known, v_keyless;
    if k_number <> '{}' then
        select array_agg(k.number), array_agg(k.kind) into v_taken, v_taken_kind
            from unnest(k_number, k_kind, k_key, k_take) as k (number, kind, key, take)
            where k.take and (select true from urd.claim x
                where x.realm = p_realm and x.kind = k.kind and x.key = k.key);
    end if;

    if v_moved is not null or v_known is not null or v_taken is not null then
        select j.o_outcome, j.o_position, j.o_events, j.o_kind, j.v_before, j.v_count
            into o_outcome, o_position, o_events, o_kind, v_before, v_count
            from urd.judge(p_realm, o_first, c_command, c_digest, c_events, v_known, v_moved,
                v_taken, v_taken_kind) j;
    end if;
    if (not v_has_macs and 0 <= any (v_before)) or (v_keyless is not null and exists (
        select from unnest(v_keyless) as n (number) where v_before[n.number] >= 0))
    then
        raise exception 'a key is not in the database' using errcode = 'UR004';
    end if;

    insert into urd.command (realm, command, position, events, digest, at)
        select p_realm, c.command, o_first + v_before[c.number], c.events, c.digest, c.at
        from unnest(c_command, c_digest, c_events, c_at) with ordinality
            as c (command, digest, events, at, number)
        where v_before[c.number] >= 0;
    insert into urd.stream (realm, stream, version)
        select p_realm, r.stream, r.version + r.events
        from unnest(r_number, r_stream, r_version, r_events) as r (number, stream, version, events)
        where r.events > 0 and v_before[r.number] >= 0
        on conflict (realm, stream) do update set version = excluded.version;

    if k_number <> '{}' then
        for i in 1 .. cardinality(k_number) loop
            if not k_take[i] and v_before[k_number[i]] >= 0 then
                delete from urd.claim x where x.realm = p_realm and x.kind = k_kind[i]
                    and x.key = k_key[i] and x.stream = k_stream[i];
            end if;
        end loop;
        insert into urd.claim (realm, kind, key, stream)
            select p_realm, k.kind, k.key, k.stream
            from unnest(k_number, k_kind, k_key, k_stream, k_take)
                as k (number, kind, key, stream, take)
            where k.take and v_before[k.number] >= 0;
    end if;
    if v_count = 0 then
        return;
    end if;

    insert into urd.event (
        realm, position, stream, version, type, revision, at, command, subject, leaf, mac, meta,
        data, sealed)
        select p_realm, o_first + v_before[e.number] + e.place, e.stream, e.version, e.type,
            e.revision, e.at, e.command, e.subject, e.leaf, e.mac, e.meta, e.data, e.sealed
        from unnest(
                e_number, e_offset, e_stream, e_version, e_type, e_revision, e_at, e_command,
                e_subject, e_leaf, e_mac, e_meta, e_data, e_sealed)
            as e (number, place, stream, version, type, revision, at, command, subject, leaf, mac,
                meta, data, sealed)
        where v_before[e.number] >= 0;

    v_last := o_first + v_count - 1;
    update urd.realm_log set position = v_last where realm = p_realm;

    perform urd.apply_inline(p_realm, o_first, v_last,
        (select array_agg(distinct e.type) from unnest(e_type) e (type)), v_attached);
end $$;

-- As m010 has it. New: `p_macs` as above, and `s`, the keys that events are sealed under, each with its
-- subject and once. They are looked for by the statement that takes the realm's lock.
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

revoke all on function urd.append, urd.append_all from public;
grant execute on function urd.append, urd.append_all to urd_app;
