-- Builds as of a moment are made of the files of read models (`projection_text`), and not of what PostgreSQL has of
-- the live ones any more. Those that an earlier build of Urd left are for an hour at most, and are asked for again:
-- their schemas go with the next sweep.

drop function if exists urd.as_of_schema, urd.as_of_projections, urd.as_of_text, urd.as_of_columns, urd.open_as_of,
    urd.copy_indexes, urd.begin_credentials_as_of, urd.begin_as_of, urd.step_as_of, urd.show_as_of, urd.sweep_as_of,
    analyst.realm_at cascade;
drop table if exists urd.as_of_page, urd.as_of_part, urd.as_of_build;
