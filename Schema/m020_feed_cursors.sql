-- How far readers of feeds are whose cursor is kept, beside those of webhooks: `leased_by` is the one reader
-- that is sent events, and `position` what it has confirmed.

alter table urd.subscription_cursor
    -- Until then no other reader is let in, unless it says that it takes over.
    add column lease_until timestamptz,
    -- The last position that a reader may have been sent. It moves before the events go out, so
    -- that every node knows what a reader can confirm.
    add column sent bigint;
