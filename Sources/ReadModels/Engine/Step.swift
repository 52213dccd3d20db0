import Postgres

/// What one call of `urd.project` did.
struct Step: Sendable {
    struct Halt: Sendable, Equatable {
        let position: Int64
        let why: String
    }

    let position: Int64
    let head: Int64
    let halted: Halt?

    /// Nil: there is nothing to move here, or another node moves it.
    static func project(
        _ realm: String, _ projection: String, _ build: Int, page: Int64, until: Int64? = nil,
        _ connection: Connection
    ) throws(Postgres.Failure) -> Step? {
        var parameters = Parameters()
        parameters.add(realm)
        parameters.add(projection)
        parameters.add(Int32(build))
        parameters.add(Int32(clamping: page))
        parameters.add(until)
        let rows = try connection.execute(projecting, parameters)
        guard !rows.isEmpty else { return nil }
        return Step(
            position: rows.int64(0, 0), head: rows.int64(0, 1),
            halted: rows.isNull(0, 2)
                ? nil : Halt(position: rows.int64(0, 2), why: rows.text(0, 3)))
    }

    /// Hands an inline build over to append. False where the build cannot be handed over now.
    static func attach(
        _ realm: String, _ projection: String, _ build: Int, _ connection: Connection
    ) throws(Postgres.Failure) -> Bool {
        var parameters = Parameters()
        parameters.add(realm)
        parameters.add(projection)
        parameters.add(Int32(build))
        return try connection.execute(attaching, parameters).bool(0, 0)
    }
}

private let projecting = Statement(
    "project",
    """
    select o_position, o_head, o_halted_at, o_halted_why from urd.project($1, $2, $3, $4, $5)
    """)
/// Writers wait while the last events are applied: there may be few of them only.
private let attaching = Statement("attach", "select urd.attach($1, $2, $3, 1000)")
