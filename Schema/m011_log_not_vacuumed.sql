-- Events are only ever added, and lie on their pages about in the order of their positions. To vacuum the
-- table because it has grown makes the rest of each page known, where small events fit: from then on they
-- would be put there, each on a page of its own that has to be read, and written to the WAL whole (decision
-- 0080). What was rolled back, and ages of transactions, are looked after as anywhere.
alter table urd.event set (autovacuum_vacuum_insert_threshold = -1);
