-- Read models, how far each one is, and the call that keeps the inline ones up with the log.
--
-- A projection is a table set and a function that applies a range of positions. Each time it is
-- built it gets a number, and its tables and function carry that number in their names, so that a
-- new build can be filled beside the live one, compared with it and switched to.

create table urd.projection_build (
    projection text collate "C" not null,
    build integer not null,
    inline boolean not null,
    -- SHA-256 of the projection's SQL text: another text needs another build.
    definition bytea not null,
    -- building: being filled. live: what the views show. previous: kept for rollback.
    status text collate "C" not null check (status in ('building', 'live', 'previous')),
    created_at timestamptz not null default now(),
    primary key (projection, build)
);
create unique index projection_live on urd.projection_build (projection) where status = 'live';

-- How far a build is in a realm. It moves in the transaction that moves its rows.
create table urd.projection_position (
    realm text collate "C" not null,
    projection text collate "C" not null,
    build integer not null,
    position bigint not null default 0,
    -- Whether append applies it. False while it is behind.
    attached boolean not null default false,
    -- Where it stopped and why, without the event's content. Null while it goes on.
    halted_at bigint,
    halted_why text,
    primary key (realm, projection, build)
) with (
    fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
);

-- Called by append, under the head lock. A build that cannot apply an event stops there and says
-- so; the log and the other builds go on. Its readers see that it is behind and refuse to answer.
create function urd.apply_inline(p_realm text, p_first bigint, p_last bigint) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
    v_at record;
    v_problem text;
begin
    for v_at in
        select p.projection, p.build, p.position
        from urd.projection_position p
        where p.realm = p_realm and p.attached
        for no key update skip locked
    loop
        if v_at.position = p_first - 1 then
            begin
                execute format('select urd.%I($1, $2, $3)',
                    v_at.projection || '_' || v_at.build || '_apply') using p_realm, p_first, p_last;
                update urd.projection_position p set position = p_last
                    where p.realm = p_realm and p.projection = v_at.projection
                        and p.build = v_at.build;
            exception when others then
                get stacked diagnostics v_problem = returned_sqlstate;
                update urd.projection_position p
                    set attached = false, halted_at = p_first, halted_why = v_problem
                    where p.realm = p_realm and p.projection = v_at.projection
                        and p.build = v_at.build;
            end;
        end if;
    end loop;
end $$;

grant select on urd.projection_build, urd.projection_position to urd_app, urd_observer;
