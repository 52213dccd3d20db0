public import Postgres
public import Values

/// A read model that follows the log and makes no progress in a realm, for any reason: the time is that for which the
/// next event has waited, by the database.
public struct ProjectionStandstill: Sendable, Equatable {
    public let projection: String
    /// The realm whose projection has stood still for longest.
    public let realm: String
    public let seconds: Double
    /// How many events wait there.
    public let events: Int64
    /// In how many realms it stands still.
    public let realms: Int64

    /// An event is applied within a second; a page of many takes some.
    public static let patience = 30.0

    public init(
        projection: String, realm: String, seconds: Double, events: Int64, realms: Int64
    ) {
        self.projection = projection
        self.realm = realm
        self.seconds = seconds
        self.events = events
        self.realms = realms
    }

    /// - Parameter now: nil is the database's time.
    public static func read(
        at now: Timestamp? = nil, _ connection: Connection
    ) throws(Postgres.Failure) -> [ProjectionStandstill] {
        var parameters = Parameters()
        parameters.add(time: now?.microseconds)
        let rows = try connection.execute(reading, parameters)
        return (0..<rows.count).map { row in
            ProjectionStandstill(
                projection: rows.text(row, 0), realm: rows.text(row, 1),
                seconds: Double(rows.int64(row, 2)) / 1000, events: rows.int64(row, 3),
                realms: rows.int64(row, 4))
        }
    }

    /// For each read model that stands still somewhere: the realm, for how many milliseconds, and how many events and
    /// realms wait.
    /// - Parameter now: the time, as SQL.
    public static func question(at now: String) -> String {
        """
        select distinct on (w.projection) w.projection, w.realm,
            (extract(epoch from \(now) - w.at) * 1000)::bigint, w.events,
            count(*) over (partition by w.projection)
        from (
            select p.projection, p.realm, e.at, h.position - p.position as events
            from urd.projection_build b
            join urd.projection_position p on p.projection = b.projection and p.build = b.build
            join urd.realm_log h on h.realm = p.realm
            join urd.event e on e.realm = p.realm and e.position = p.position + 1
            where b.status = 'live' and not b.inline and p.position < h.position
                and p.halted_at is null
                and e.at < \(now) - make_interval(secs => \(patience))) w
        order by w.projection, w.at
        """
    }
}

private let reading = Statement(
    "projection_standstill",
    ProjectionStandstill.question(at: "coalesce($1, clock_timestamp())"))
