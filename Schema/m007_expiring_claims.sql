-- Claims that are only good for a while, such as that a client's assertion was used, say so in their
-- kind: `until`, the hour since 1970 in ten digits, and what they are. They are found by a range of the
-- primary key, so that the many that hold for ever are never looked at.
create function urd.forget_claims(p_realm text) returns bigint
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    with gone as (
        delete from urd.claim c
            where c.realm = p_realm and c.kind >= 'until '
                and c.kind < 'until ' || lpad(
                    floor(extract(epoch from now()) / 3600)::bigint::text, 10, '0')
            returning 1)
    select count(*) from gone;
$$;

revoke all on function urd.forget_claims from public;
grant execute on function urd.forget_claims to urd_app;
