public import Postgres
public import Values

/// The newest signed checkpoint of any realm.
public enum LastCheckpoint {
    /// The time of its signature; nil before the first checkpoint.
    public static func time(_ connection: Connection) throws(Failure) -> Timestamp? {
        let rows = try connection.execute(reading)
        let seconds = rows.int64(0, 0)
        return seconds > 0 ? Timestamp(seconds: seconds) : nil
    }
}

/// One row of each realm, by the key.
private let reading = Statement(
    "last_checkpoint",
    """
    select coalesce(extract(epoch from max(c.at))::bigint, 0)
    from urd.realm_log h cross join lateral (
        select c.at from urd.checkpoint c where c.realm = h.realm order by c.size desc limit 1) c
    """)
