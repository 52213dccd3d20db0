-- The accounts that are to be deleted, each with when; and those that are deleted but whose keys may
-- still be there. What has been carried out is in no row.
-- Read by: the service that carries deletions out. It asks the account itself before it does.
--
-- kind: following
-- types: account.deletion_scheduled account.deletion_cancelled account.deleted account.erased

-- section: tables

create table {table} (
    realm text collate "C" not null,
    account uuid not null,
    due_at timestamptz not null,
    primary key (realm, account)
);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[]{shard_parameters})
returns void language plpgsql as $$
begin
    -- Of several things that happened to an account the last one counts.
    delete from {table} d
        using (
            select distinct on (e.stream) e.stream, e.type
            from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type = any ({types}) {shard}
            order by e.stream, e.position desc
        ) l
        where d.realm = p_realm and d.account = l.stream
            and l.type in ('account.deletion_cancelled', 'account.erased');

    insert into {table} as d (realm, account, due_at)
        select p_realm, l.stream, coalesce(to_timestamp((l.data ->> 'due')::bigint), l.at)
        from (
            select distinct on (e.stream) e.stream, e.type, e.data, e.at
            from urd.event e
            where e.realm = p_realm and e.position between p_first and p_last
                and e.type = any ({types}) {shard}
            order by e.stream, e.position desc
        ) l
        where l.type in ('account.deletion_scheduled', 'account.deleted')
        on conflict (realm, account) do update set due_at = excluded.due_at;
end $$;

-- section: finish

create index on {table} (due_at);

-- section: readers

create or replace view urd.deletions as
    select d.realm, d.account, d.due_at from {table} d;
grant select on urd.deletions to urd_app, urd_observer;
