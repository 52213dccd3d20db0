-- Analysts read views, and not the log: what stands readable in it has digests that never leave (decision
-- 0117).
revoke select on urd.event from urd_observer;
