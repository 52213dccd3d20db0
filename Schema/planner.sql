-- Plans are kept, those of append above all, and most are made while a table is empty. Then any
-- index seems as good as another, and one that only finds the realm is as likely to be taken as the
-- key: it would read the whole realm for each batch until statistics are gathered. So each
-- table learns, before it is used, that one realm may have all of it: from two rows that go again.
--
-- Call it in another transaction than the one that makes the table, or after a savepoint: otherwise
-- the table is truncated in place, and what the planner then takes it for is an empty table and not a new one.
create function urd.teach_planner(p_table regclass) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
    v_values text;
begin
    -- Where the realm is the key there is nothing to learn.
    if exists (
        select from pg_index i join pg_attribute a on a.attrelid = p_table and a.attnum = i.indkey[0]
        where i.indrelid = p_table and i.indisunique and i.indnkeyatts = 1 and a.attname = 'realm')
    then
        return;
    end if;
    select string_agg(
            case
                when a.attname = 'realm' then '''-'''
                when a.atttypid = 'uuid'::regtype then 'gen_random_uuid()'
                when a.atttypid in ('json'::regtype, 'jsonb'::regtype) then '''{}'''
                when a.atttypid = 'bytea'::regtype then 'convert_to(n::text, ''UTF8'')'
                when t.typcategory = 'A' then '''{}'''
                when t.typcategory = 'B' then 'n = 1'
                when t.typcategory = 'D' then 'to_timestamp(n)'
                else format('n::text::%s', a.atttypid::regtype)
            end, ', ' order by a.attnum)
        into v_values
        from pg_attribute a join pg_type t on t.oid = a.atttypid
        where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped;
    execute format('insert into %s select %s from generate_series(1, 2) n', p_table, v_values);
    -- Two rows alone would be no proof that there are not as many realms as rows.
    execute format('alter table %s alter column realm set (n_distinct = 1)', p_table);
    execute format('analyze %s', p_table);
    execute format('alter table %s alter column realm reset (n_distinct)', p_table);
    -- The rows go, what was learned stays, and the planner still takes the table for a new one.
    execute format('truncate %s', p_table);
end $$;
revoke all on function urd.teach_planner from public;
