import Postgres

/// Builds projections, beside the live ones and without blocking readers or writers.
///
/// Blocks its thread, for as long as a rebuild takes: not for the cooperative pool. Everything goes
/// on while it works; a build that it left unfinished, however it ended, is dropped by the next.
public struct ProjectionEngine: Sendable {
    public typealias Report = (ProjectionProgress) -> Void

    let address: String
    let workers: Int
    let projections: [Projection]
    var pace = ReaderWait.Pace()

    /// - Parameters:
    ///   - address: of the database, as the owner of the schema.
    ///   - workers: connections that fill a build.
    public init(_ address: String, workers: Int = 2, projections: [Projection] = Projection.all) {
        self.address = address
        self.workers = max(1, workers)
        self.projections = projections
    }

    /// Projections whose live build is missing or was made from another text.
    public func pending() throws -> [String] {
        let connection = try connect()
        return try projections.filter {
            try LiveBuild.find($0, connection)?.isCurrent != true
        }.map(\.name)
    }

    /// Gives every projection a live build of this binary's making, and removes those that this
    /// binary doesn't know.
    /// - Returns: the names of the new builds.
    public func migrate(
        report: @escaping (String, ProjectionProgress) -> Void = { _, _ in }
    ) throws -> [String] {
        let connection = try connect()
        for name in try Builds.projections(connection)
        where !projections.contains(where: { $0.name == name }) {
            try Builds.forget(name, connection, pace) { report(name, $0) }
        }
        var built: [String] = []
        for projection in projections
        where try LiveBuild.find(projection, connection)?.isCurrent != true {
            _ = try rebuild(projection) { report(projection.name, $0) }
            built.append(projection.name)
        }
        return built
    }

    /// Builds a projection anew, compares it with the live build, and switches to it.
    public func rebuild(_ name: String, report: @escaping Report = { _ in }) throws -> Comparison {
        try rebuild(try find(name), report)
    }

    /// Builds a projection anew beside the live one, compares the two, and drops the new one.
    public func verify(_ name: String, report: @escaping Report = { _ in }) throws -> Comparison {
        let projection = try find(name)
        let connection = try connect()
        return try alone(projection, connection) {
            guard try LiveBuild.find(projection, connection)?.isCurrent == true else {
                return .incomparable
            }
            let run = BuildRun(self, projection, connection, report)
            return try run.shadow()
        }
    }

    /// Switches back to the build before the live one, after bringing it up to the log.
    /// - Returns: the build that is live now.
    public func rollback(_ name: String, report: @escaping Report = { _ in }) throws -> Int {
        let projection = try find(name)
        let connection = try connect()
        return try alone(projection, connection) {
            guard let previous = try Builds.number(of: projection.name, "previous", connection)
            else { throw ProjectionFailure.nothingToRollBack(name) }
            let run = BuildRun(self, projection, connection, report)
            try run.goBack(to: previous)
            return previous
        }
    }

    private func rebuild(_ projection: Projection, _ report: @escaping Report) throws -> Comparison
    {
        let connection = try connect()
        return try alone(projection, connection) {
            try BuildRun(self, projection, connection, report).replace()
        }
    }

    private func find(_ name: String) throws -> Projection {
        guard let projection = projections.first(where: { $0.name == name }) else {
            throw ProjectionFailure.unknown(name)
        }
        return projection
    }

    /// One process at a time works on a projection. The lock goes with its connection.
    private func alone<Value>(
        _ projection: Projection, _ connection: Connection, _ body: () throws -> Value
    ) throws -> Value {
        var parameters = Parameters()
        parameters.add("projection \(projection.name)")
        let rows = try connection.executeOnce("select urd.take_session_lock($1)", parameters)
        guard rows.bool(0, 0) else { throw ProjectionFailure.busy(projection.name) }
        defer {
            _ = try? connection.executeOnce(
                "delete from urd.session_lock where name = $1 and process = pg_backend_pid()",
                parameters)
        }
        return try body()
    }

    func connect() throws(Postgres.Failure) -> Connection {
        let connection = try Connection(address, application: "urd projections")
        // Much is sorted and hashed; what is lost in a crash is built again.
        try connection.run(
            """
            set client_min_messages = warning; set work_mem = '256MB';
            set maintenance_work_mem = '256MB'; set jit = off;
            set max_parallel_workers_per_gather = 0; set synchronous_commit = off;
            set lock_timeout = '5s'; set statement_timeout = 0
            """)
        return connection
    }
}
