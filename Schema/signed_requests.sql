-- What keeps signed requests from being sent twice. It moves with every request, so that it stands in rows and not
-- in the log.

-- The highest number of a request that each token of the federation profile has signed: a request with that number
-- or a lower one is a replay (decision 0134).
create table urd.request_sequence (
    realm text collate "C" not null,
    -- The session of the token, or the client of a service that signs by its own key.
    token uuid not null,
    sequence bigint not null,
    used_on date not null default current_date,
    -- A row is raised once for all requests of its token that came at the same time, and tells how high it was:
    -- those above that are new (decision 0134).
    before bigint,
    primary key (realm, token)
) with (fillfactor = 50);

-- Takes each number that is higher than any before it of the same token, and says which were taken. A caller with
-- several sorts them by token, so that no two nodes wait for each other.
create function urd.advance_sequences(p_realm text, p_tokens uuid[], p_sequences bigint[])
returns boolean[] language plpgsql as $$
declare
    taken boolean[] := '{}';
begin
    for i in 1 .. cardinality(p_tokens) loop
        insert into urd.request_sequence as s (realm, token, sequence)
        values (p_realm, p_tokens[i], p_sequences[i])
        on conflict (realm, token) do update
            set sequence = excluded.sequence, used_on = current_date
            where s.sequence < excluded.sequence;
        taken := taken || found;
    end loop;
    return taken;
end $$;

-- What tokens and devices have signed that has neither a number nor a time in it: each is good once, or once with a
-- request, as long as the key lives that signed it (decision 0162). So many of one key are remembered, and further
-- ones are refused: nothing is forgotten to make room.
create table urd.untimed_request (
    realm text collate "C" not null,
    -- The session of the token, or the stream of the device.
    token uuid not null,
    -- SHA-256, from the signature: it tells nothing of what was signed.
    digest bytea not null,
    -- When the key has surely ended. Null: it is not known, and the row stays.
    forget_on date,
    primary key (realm, token, digest)
);

create index untimed_request_forget on urd.untimed_request (realm, forget_on)
    where forget_on is not null;

-- Says whether it is new, and there was room for it. Requests of the same token at the same time wait at the row
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

revoke all on function urd.advance_sequences, urd.remember_request from public;
grant execute on function urd.advance_sequences, urd.remember_request to urd_app;
grant select, insert, update, delete on urd.request_sequence to urd_app;
grant select, insert, delete on urd.untimed_request to urd_app;
grant select on urd.request_sequence, urd.untimed_request to urd_observer;
