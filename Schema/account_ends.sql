-- When and why sessions ended with their account's.

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
