-- The highest number of a request that each token of the federation profile has signed: a request with that number
-- or a lower one is a replay. It moves with every request, so that it stands in rows and not in the log: see
-- decision 0135.

create table urd.request_sequence (
    realm text collate "C" not null,
    -- The session of the token, or the client of a service that signs by its own key.
    token uuid not null,
    sequence bigint not null,
    used_on date not null default current_date,
    primary key (realm, token)
) with (fillfactor = 50);

grant select, insert, update, delete on urd.request_sequence to urd_app;
grant select on urd.request_sequence to urd_observer;

-- Takes each number that is higher than any before it of the same token, and says which were taken. Who asks for
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

revoke execute on function urd.advance_sequences from public;
grant execute on function urd.advance_sequences to urd_app;
