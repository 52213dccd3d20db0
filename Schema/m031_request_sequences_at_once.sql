-- A row is raised once for all requests of its token that came at the same time, and tells how high it was: those
-- above that are new (decision 0134). urd.advance_sequences stays for nodes of the build before.
alter table urd.request_sequence add column before bigint;
