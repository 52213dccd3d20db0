-- When and why sessions ended with their account's, and in a realm as of a moment views that look at several read
-- models.

-- What ended all sessions that an account had: those with the stamp that it had then, or one before. Clients may have
-- been told later, as `lapsed`.
create view urd.account_ends as
    select e.realm, e.stream as account,
        row_number() over (partition by e.realm, e.stream order by e.version) - 1 as stamp,
        case e.type
            when 'account.disabled' then 'disabled'
            when 'account.stamp_rotated' then 'signed_out_everywhere'
            when 'account.mailbox_changed' then 'mailbox_changed'
            else 'deleted' end as reason,
        e.at
    from urd.event e
    where e.type in (
        'account.disabled', 'account.stamp_rotated', 'account.mailbox_changed',
        'account.deletion_scheduled', 'account.deleted');

grant select on urd.account_ends to urd_app;

-- What a definition names in `urd`, named in a build's schema.
create or replace function urd.as_of_text(p_id uuid, p_position bigint, p_text text) returns text
language sql immutable set search_path = pg_catalog, pg_temp
return replace(
    regexp_replace(
        regexp_replace(
            regexp_replace(
                p_text, '\murd\.audit_trail_[0-9]+\M',
                -- The log is its own trail.
                format(
                    '(select e.realm, e.position, e.at, e.stream, e.subject, e.type, e.meta ->> ''actor'' as actor, '
                        'e.meta ->> ''client'' as client, e.meta ->> ''correlation'' as correlation '
                        'from urd.event e where e.position <= %s)', p_position), 'g'),
            format('\murd\.(%s)_[0-9]+(?![0-9])', array_to_string(urd.as_of_projections(), '|')),
            urd.as_of_schema(p_id) || '.\1', 'g'),
        format('\murd\.(%s)\M', array_to_string(urd.as_of_projections(), '|')),
        urd.as_of_schema(p_id) || '.\1', 'g'),
    'analyst.realm()', format('analyst.realm_at(%L::uuid)', p_id));
