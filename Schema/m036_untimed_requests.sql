-- What tokens and devices have signed that has neither a number nor a time in it: each is good once, or once with a
-- request, as long as the key lives that signed it (decision 0162). So many of one key are remembered, and further
-- ones are refused: nothing is forgotten to make room.
create table urd.untimed_request (
    realm text collate "C" not null,
    -- The session of the token, or the stream of the device.
    token uuid not null,
    -- SHA-256, from the signature: it tells nothing of what was signed.
    digest bytea not null,
    -- When the key has surely ended. Null: nobody knows, and the row stays.
    forget_on date,
    primary key (realm, token, digest)
);

create index untimed_request_forget on urd.untimed_request (realm, forget_on)
    where forget_on is not null;

grant select, insert, delete on urd.untimed_request to urd_app;
grant select on urd.untimed_request to urd_observer;

-- Says whether it is new, and there was room for it. Who asks at the same time for the same token waits at the row
-- that guards its numbers too.
create function urd.remember_request(
    p_realm text, p_token uuid, p_digest bytea, p_most integer, p_forget_on date
) returns boolean language plpgsql as $$
begin
    insert into urd.request_sequence (realm, token, sequence) values (p_realm, p_token, 0)
    on conflict (realm, token) do update set used_on = current_date;
    if (select count(*) from urd.untimed_request u
            where u.realm = p_realm and u.token = p_token) >= p_most then
        return false;
    end if;
    insert into urd.untimed_request (realm, token, digest, forget_on)
    values (p_realm, p_token, p_digest, p_forget_on)
    on conflict do nothing;
    return found;
end $$;

revoke execute on function urd.remember_request from public;
grant execute on function urd.remember_request to urd_app;
