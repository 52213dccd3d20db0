public import Postgres

/// What is wrong with a live read model, in one of the realms where something is. Made in the database: a row for each
/// read model, however many realms there are.
public struct ProjectionTrouble: Sendable, Equatable {
    public enum Trouble: Sendable, Equatable {
        case halted(realm: String, position: Int64, why: String)
        /// In the realm where it is furthest behind. An inline one that is not moved with the log is behind, however
        /// little: its readers refuse to answer. Below zero it is ahead of the log.
        case behind(realm: String, events: Int64)
    }

    public let projection: String
    /// Nil where the projection runs in all realms.
    public let trouble: Trouble?

    /// - Parameter lag: so many events a read model that follows may be behind.
    public static func read(
        lag: Int64, _ connection: Connection
    ) throws(Postgres.Failure) -> [ProjectionTrouble] {
        var parameters = Parameters()
        parameters.add(lag)
        let rows = try connection.execute(reading, parameters)
        return (0..<rows.count).map { row in
            let trouble: Trouble? =
                if !rows.isNull(row, 1) {
                    .halted(
                        realm: rows.text(row, 1), position: rows.int64(row, 2),
                        why: rows.text(row, 3))
                } else if !rows.isNull(row, 4) {
                    .behind(realm: rows.text(row, 4), events: rows.int64(row, 5))
                } else {
                    nil
                }
            return ProjectionTrouble(projection: rows.text(row, 0), trouble: trouble)
        }
    }
}

/// Which builds append moves stands in each head, so that no row for each realm and build is read: only those of
/// realms where one is missing or not moved, and of realms whose log is long enough that one may be too late. Rows that
/// are not attached are looked up build by build (`offset 0`): those of all that follow are never attached.
private let reading = Statement(
    "projection_trouble",
    """
    with live as materialized (
        select b.projection, b.build, b.inline, b.projection || '_' || b.build as name
        from urd.projection_build b where b.status = 'live'),
    attached as materialized (
        select coalesce(array_agg(l.name order by l.name collate "C"), '{}') as names
        from live l where l.inline),
    late as materialized (
        select l.projection, h.realm, h.position, l.build
        from urd.realm_log h cross join live l
        where h.position > 0 and h.attached <> (select a.names from attached a)
            and not h.attached @> (select a.names from attached a)
            and l.inline and not l.name = any (h.attached)
        union all
        select l.projection, h.realm, h.position, l.build
        from live l
        cross join lateral (
            select p.realm from urd.projection_position p
            where p.projection = l.projection and p.build = l.build and not p.attached
            offset 0) p
        join urd.realm_log h on h.realm = p.realm
        where l.inline and h.position > 0
        union all
        select l.projection, h.realm, h.position, l.build
        from urd.realm_log h cross join live l
        where h.position > $1 and not l.inline and not exists (
            select from urd.projection_position p
            where p.realm = h.realm and p.projection = l.projection and p.build = l.build
                and (p.position >= h.position - $1 or p.halted_at is not null)))
    select l.projection, s.realm, s.halted_at, s.halted_why, f.realm, f.events
    from live l
    left join lateral (
        select p.realm, p.halted_at, p.halted_why from urd.projection_position p
        where p.projection = l.projection and p.build = l.build and p.halted_at is not null
        limit 1) s on true
    left join lateral (
        select t.realm, t.position - coalesce((
            select p.position from urd.projection_position p
            where p.realm = t.realm and p.projection = t.projection and p.build = t.build), 0)
            as events
        from late t where t.projection = l.projection order by 2 desc limit 1) f on true
    order by l.projection
    """)
