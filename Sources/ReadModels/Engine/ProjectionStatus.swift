public import Postgres
public import Values

/// How far one build of a projection is in one realm.
public struct ProjectionStatus: Sendable, Equatable {
    public enum State: String, Sendable {
        /// Append moves it.
        case attached
        case following
        /// It follows the log though it should move with it: it is being caught up.
        case behind
        case halted
        case building
        /// Kept for rollback, and not moved.
        case previous
    }

    public struct Halt: Sendable, Equatable {
        /// The event that it cannot apply.
        public let position: Int64
        public let why: String
        public let since: Timestamp
    }

    public let projection: String
    public let kind: Projection.Kind
    public let build: Int
    public let realm: String
    public let position: Int64
    public let head: Int64
    public let state: State
    public let halt: Halt?

    public var lag: Int64 { max(0, head - position) }

    /// Every build in every realm; readable for the application and for observers.
    public static func read(
        _ connection: Connection
    ) throws(Postgres.Failure) -> [ProjectionStatus] {
        let rows = try connection.execute(reading)
        return (0..<rows.count).map { ProjectionStatus(rows, $0) }
    }

    private init(_ rows: Rows, _ row: Int) {
        let isInline = rows.bool(row, 3)
        let isHalted = !rows.isNull(row, 8)
        state =
            switch rows.text(row, 2) {
            case "building": .building
            case "previous": .previous
            default:
                if isHalted {
                    .halted
                } else if isInline {
                    rows.bool(row, 7) && rows.int64(row, 5) == rows.int64(row, 6)
                        ? .attached : .behind
                } else {
                    .following
                }
            }
        projection = rows.text(row, 0)
        kind = isInline ? .inline : .following
        build = Int(rows.int32(row, 1))
        realm = rows.text(row, 4)
        position = rows.int64(row, 5)
        head = rows.int64(row, 6)
        halt =
            isHalted
            ? Halt(
                position: rows.int64(row, 8), why: rows.text(row, 9),
                since: Timestamp(microseconds: rows.time(row, 10))) : nil
    }
}

private let reading = Statement(
    "projection_status",
    """
    select b.projection, b.build, b.status, b.inline, h.realm, coalesce(p.position, 0), h.position,
        coalesce(p.attached, false), p.halted_at, p.halted_why, p.halted_since
    from urd.projection_build b
    cross join urd.realm_log h
    left join urd.projection_progress p
        on p.realm = h.realm and p.projection = b.projection and p.build = b.build
    where h.position > 0
    order by b.projection, b.build, h.realm
    """)
