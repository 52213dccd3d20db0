-- Attempts are written in the order of their time, so that a summary of each stretch of the table finds those of a
-- time: an index with an entry for each was a tenth of what a delivery costs the database.
drop index urd.delivery_attempt_at;
create index delivery_attempt_at on urd.delivery_attempt using brin (at) with (autosummarize = on);
