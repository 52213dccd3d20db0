-- Appends a batch of commands to one realm: each wins or loses by itself.
--
-- The head row is locked first and updated last. Under that lock every check is a plain read: a
-- scalar sub-select, which is always a look-up. A semi-join would be free to read the whole realm,
-- and on a young table the planner thinks that cheap.
-- The caller sees to it that, within one batch, no stream is read or written after it was written,
-- and no claim and no command id occurs twice; a slip ends in a unique violation, not in a wrong log.
--
-- Commands are numbered from 1; events, reads and claims name their command by that number.
-- When all win, which is nearly always, nothing is worked out per command: the caller knows how many
-- events stand before each one (c_before), and the outcomes stay null. Otherwise they are: w won,
-- d duplicate (position and events are those of the first time), m command id used for another
-- request, c a stream has moved on, t a claim is taken (kind says which).
--
-- Append refuses what was sealed or authenticated under keys that this database does not have, so that
-- nothing is ever acknowledged that cannot be read: a crash or a failover may take a key away that a node
-- still has in memory (decision 0084). `p_macs` are the keys that authenticate the batch, `e_key` is the key
-- that an event is sealed under, null where it is not sealed. They are looked for on behalf of those that
-- win: what was committed the first time is answered as that, though its keys may be gone. A key that
-- append sees was committed on this server before, so it is on disk, and on the standbys, no later than
-- what append commits.

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

-- Tells the winners of a batch from the others, once it is known that there are others.
create function urd.judge(
    p_realm text, p_first bigint, c_command uuid[], c_digest bytea[], c_events integer[],
    p_known integer[], p_moved integer[], p_taken integer[], p_taken_kind text[],
    out o_outcome "char"[], out o_position bigint[], out o_events integer[], out o_kind text[],
    out v_before integer[], out v_count bigint
)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with judged as materialized (
        select c.number, c.events, d.position as earlier, d.events as earlier_events,
            (case
                when d.position is not null then case when d.digest = c.digest then 'd' else 'm' end
                when c.number = any (p_moved) then 'c'
                when c.number = any (p_taken) then 't'
                else 'w'
            end)::"char" as outcome
        from unnest(c_command, c_digest, c_events) with ordinality
            as c (command, digest, events, number)
        left join lateral (
            select x.position, x.events, x.digest from urd.command x
            where c.number = any (p_known) and x.realm = p_realm and x.command = c.command
            limit 1
        ) d on true
    ), placed as (
        select j.*, coalesce(sum(j.events) filter (where j.outcome = 'w') over (
            order by j.number rows between unbounded preceding and 1 preceding), 0) as before
        from judged j
    )
    select array_agg(p.outcome order by p.number),
        array_agg(case when p.outcome = 'w' then p_first + p.before else coalesce(p.earlier, 0) end
            order by p.number),
        array_agg(case when p.outcome = 'w' then p.events else coalesce(p.earlier_events, 0) end
            order by p.number),
        array_agg(coalesce(p_taken_kind[array_position(p_taken, p.number::integer)], '')
            order by p.number),
        array_agg(case when p.outcome = 'w' then p.before::integer else -1 end order by p.number),
        coalesce(sum(p.events) filter (where p.outcome = 'w'), 0)
    from placed p;
$$;

revoke all on function urd.append, urd.judge from public;
grant execute on function urd.append to urd_app;
