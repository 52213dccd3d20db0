import Postgres

/// One run of the engine over one projection, under that projection's lock.
struct BuildRun {
    let engine: ProjectionEngine
    let projection: Projection
    let connection: Connection
    let report: ProjectionEngine.Report

    init(
        _ engine: ProjectionEngine, _ projection: Projection, _ connection: Connection,
        _ report: @escaping ProjectionEngine.Report
    ) {
        self.engine = engine
        self.projection = projection
        self.connection = connection
        self.report = report
    }

    /// A new build becomes the live one; the live one is kept.
    func replace() throws -> Comparison {
        let live = try LiveBuild.find(projection, connection)
        let build = try fill(mayHalt: live == nil)
        var comparison = Comparison.incomparable
        do {
            if let live, live.isCurrent {
                report(.comparing)
                comparison = try compare(live.number, build)
            }
            report(.switching)
            try becomeLive(build, readers: projection.readers(build), mayHalt: live == nil)
        } catch {
            try? Builds.drop(projection.name, build, connection)
            throw error
        }
        // Readers have the build: a failure from here on is no reason to drop it.
        if let live { try retire(live.number) }
        return comparison
    }

    /// A new build is compared with the live one and dropped.
    func shadow() throws -> Comparison {
        guard let live = try LiveBuild.find(projection, connection) else { return .incomparable }
        let build = try fill(mayHalt: false)
        defer { try? Builds.drop(projection.name, build, connection) }
        report(.comparing)
        return try compare(live.number, build)
    }

    /// The build before the live one becomes live again.
    func goBack(to build: Int) throws {
        try connection.executeOnce(
            """
            insert into urd.projection_position (realm, projection, build)
                select h.realm, $1, $2 from urd.realm_log h where h.position > 0
                on conflict do nothing
            """, key(build))
        report(.catchingUp)
        try catchUp(build, mayHalt: false)
        let readers = try connection.executeOnce(
            "select readers from urd.projection_build where projection = $1 and build = $2",
            key(build))
        report(.switching)
        let before = try Builds.number(of: projection.name, "live", connection)
        try becomeLive(build, readers: readers.text(0, 0), mayHalt: false)
        if let before { try retire(before) }
    }

    /// Makes the next build and brings it up to the log. From then on an inline one moves with it.
    private func fill(mayHalt: Bool) throws -> Int {
        if let left = try Builds.number(of: projection.name, "building", connection) {
            try Builds.drop(projection.name, left, connection)
        }
        try Builds.sweep(projection.name, connection)
        do {
            return try fill(sharded: projection.isShardable, mayHalt: mayHalt)
        } catch let failure as Postgres.Failure where projection.isShardable && failure.isPoison {
            // Connections that share the work can't tell which event it was: one alone can.
            return try fill(sharded: false, mayHalt: mayHalt)
        }
    }

    private func fill(sharded: Bool, mayHalt: Bool) throws -> Int {
        let build = try Builds.create(projection, sharded: sharded, connection)
        do {
            let filling = BuildFilling(engine, projection, build, sharded: sharded)
            try filling.run(connection, report)
            report(.finishing)
            try connection.run(projection.finish(build))
            if sharded {
                try connection.run(
                    """
                    drop function \(projection.applyName(build))(
                        text, bigint, bigint, text[], integer, integer)
                    """)
            }
            try learn(build)
            report(.catchingUp)
            try catchUp(build, mayHalt: mayHalt)
            return build
        } catch {
            try? Builds.drop(projection.name, build, connection)
            throw error
        }
    }

    /// Empty tables keep their statistics.
    private func learn(_ build: Int) throws {
        for table in projection.tableNames(build) {
            let found = try connection.executeOnce(
                "select exists (select from urd.\(table))", Parameters())
            if found.bool(0, 0) { try connection.run("analyze urd.\(table)") }
        }
    }

    /// The projection's name and a build's number, as $1 and $2.
    func key(_ build: Int) -> Parameters {
        var parameters = Parameters()
        parameters.add(projection.name)
        parameters.add(Int32(build))
        return parameters
    }
}

extension Postgres.Failure {
    /// The event's or the definition's fault, and not the world's.
    var isPoison: Bool { !isTransient && !code.isEmpty && !code.hasPrefix("55") }
}
