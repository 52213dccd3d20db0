import Postgres

/// What is asked of the tables of deliveries: see `Schema/signals.sql`.
enum SignalStatements {
    static let findingCursor = Statement(
        "ssf_cursor",
        """
        select c.epoch, c.position, c.version,
            case when c.epoch = h.epoch then c.position
                else coalesce((select min(e.began_after) from urd.epoch e
                    where e.realm = $1 and e.epoch > c.epoch), 0) end,
            c.verified_at, c.heard_at, c.failures, c.failing_since, c.next_at,
            (select count(*) from urd.ssf_signal s
                where s.realm = $1 and s.stream = $2 and s.refused is null)
        from urd.ssf_cursor c join urd.realm_log h on h.realm = $1
        where c.realm = $1 and c.stream = $2
        """)

    /// One statement, and so all of it or nothing. What is added looks at what is gone, and so comes after
    /// it: a signal that comes again may have the name of one that goes.
    static let advancing = Statement(
        "ssf_advance",
        """
        with moved as (
            insert into urd.ssf_cursor as c (realm, stream, epoch, position, version, heard_at)
            values ($1, $2, $3, $4, $5, $17)
            on conflict (realm, stream) do update
                set epoch = excluded.epoch, position = excluded.position, version = excluded.version
                where c.position = $7 and c.version = $8 and c.epoch <= excluded.epoch and $6 >= 0
            returning 1),
        gone as (
            delete from urd.ssf_signal s
            where s.realm = $1 and s.stream = $2 and (s.position <= $9 or s.position > $10 and s.account is not null)
                and exists (select from moved)
            returning 1),
        added as (
            insert into urd.ssf_signal
                (realm, stream, jti, position, type, account, state, issued_at)
            select $1, $2, n.* from unnest($11::text[], $12::bigint[], $13::text[], $14::uuid[],
                $15::text[], $16::timestamptz[]) n
            where exists (select from moved) and (select count(*) from gone) >= 0
            on conflict (realm, stream, jti) do nothing)
        select exists (select from moved)
        """)

    static let listing = Statement(
        "ssf_pending",
        """
        select s.jti, s.position, s.type, s.account, s.state, s.issued_at, s.attempts
        from urd.ssf_signal s
        where s.realm = $1 and s.stream = $2 and s.refused is null
        order by s.account is not null, s.type !~ 'stream-updated$', s.position, s.type limit $3
        """)

    static let listingForemost = Statement(
        "ssf_foremost",
        """
        select f.jti, f.position, f.type, f.account, f.state, f.issued_at, f.attempts from (
            select distinct on (s.account)
                s.jti, s.position, s.type, s.account, s.state, s.issued_at, s.attempts, s.next_at
            from urd.ssf_signal s
            where s.realm = $1 and s.stream = $2 and s.refused is null
            order by s.account, s.type !~ 'stream-updated$', s.position, s.type) f
        where f.next_at is null or f.next_at <= $4
        order by f.account is not null, f.position limit $3
        """)

    static let confirming = Statement(
        "ssf_confirm",
        """
        with gone as (
            delete from urd.ssf_signal s
            where s.realm = $1 and s.stream = $2 and s.jti = any ($3::text[]))
        update urd.ssf_cursor c
            set failures = 0, failing_since = null, next_at = null, heard_at = $4
            where c.realm = $1 and c.stream = $2
        """)

    static let refusing = Statement(
        "ssf_refuse",
        """
        with marked as (
            update urd.ssf_signal s set refused = $4
            where s.realm = $1 and s.stream = $2 and s.jti = $3)
        update urd.ssf_cursor c
            set failures = 0, failing_since = null, next_at = null, heard_at = $5
            where c.realm = $1 and c.stream = $2
        """)

    static let deferring = Statement(
        "ssf_defer",
        """
        update urd.ssf_cursor c
            set failures = c.failures + 1, failing_since = coalesce(c.failing_since, $4),
                next_at = $3
            where c.realm = $1 and c.stream = $2
        """)

    static let deferringOne = Statement(
        "ssf_defer_one",
        """
        update urd.ssf_signal s set attempts = s.attempts + 1, next_at = $4
            where s.realm = $1 and s.stream = $2 and s.jti = $3
        """)

    static let resuming = Statement(
        "ssf_resume",
        """
        with due as (
            update urd.ssf_signal s set attempts = 0, next_at = null
            where s.realm = $1 and s.stream = $2 and s.next_at is not null)
        update urd.ssf_cursor c
            set failures = 0, failing_since = null, next_at = null, heard_at = $3
            where c.realm = $1 and c.stream = $2
        """)

    static let hearing = Statement(
        "ssf_hear",
        """
        update urd.ssf_cursor c set heard_at = $3
            where c.realm = $1 and c.stream = $2 and c.heard_at < $3 - interval '1 minute'
        """)

    static let verifying = Statement(
        "ssf_verify",
        """
        with asked as (
            update urd.ssf_cursor c set verified_at = $8
            where c.realm = $1 and c.stream = $2
                and (c.verified_at is null or c.verified_at <= $8 - $3 * interval '1 second')
            returning 1),
        added as (
            insert into urd.ssf_signal (realm, stream, jti, position, type, state, issued_at)
            select $1, $2, $4, $5, $6, $7, $8 where exists (select from asked))
        select exists (select from asked)
        """)

    static let forgettingRefused = Statement(
        "ssf_forget_refused",
        """
        delete from urd.ssf_signal s
            where s.refused is not null and s.issued_at < now() - interval '30 days'
        """)

    static let forgetting = Statement(
        "ssf_forget",
        """
        with gone as (
            delete from urd.ssf_signal s where s.realm = $1 and s.stream = $2)
        delete from urd.ssf_cursor c where c.realm = $1 and c.stream = $2
        """)
}
