import Postgres
import Threads

/// Fills a build without readers, with several connections at once: each takes a realm, or
/// its share of the streams of a big one.
struct BuildFilling: Sendable {
    private struct Unit: Sendable {
        let realm: String
        let head: Int64
        /// Which share of the streams; nil where one connection does all of them.
        let shard: Int?
    }

    private struct Progress {
        var units: [Unit]
        var applied: Int64 = 0
        var running: Int
        var failure: Postgres.Failure?
        var reported: Int64 = -1
    }

    private let engine: ProjectionEngine
    private let projection: Projection
    private let build: Int
    private let sharded: Bool

    /// Large: what an event overrules within a page costs next to nothing.
    private static var page: Int64 { 250_000 }
    /// A realm with fewer events is not worth sharing.
    private static var worthSharing: Int64 { 20_000 }

    init(_ engine: ProjectionEngine, _ projection: Projection, _ build: Int, sharded: Bool) {
        self.engine = engine
        self.projection = projection
        self.build = build
        self.sharded = sharded && engine.workers > 1
    }

    func run(_ connection: Connection, _ report: ProjectionEngine.Report) throws {
        let heads = try heads(connection)
        let total = heads.reduce(0) { $0 &+ $1.1 }
        guard total > 0 else { return }
        let units = heads.flatMap { realm, head in
            sharded && head >= Self.worthSharing
                ? (0..<engine.workers).map { Unit(realm: realm, head: head, shard: $0) }
                : [Unit(realm: realm, head: head, shard: nil)]
        }
        let workers = min(engine.workers, units.count)
        let progress = Monitor(Progress(units: units.reversed(), running: workers))
        for _ in 0..<workers {
            DedicatedThread.startRequired { [self] in work(progress) }
        }
        report(.filling(0, of: total))
        while true {
            let (applied, isDone) = progress.wait { state -> (Int64, Bool)? in
                guard state.running == 0 || state.applied != state.reported else { return nil }
                state.reported = state.applied
                return (state.applied, state.running == 0)
            }
            report(.filling(min(applied, total), of: total))
            if isDone { break }
        }
        if let failure = progress.withLock({ $0.failure }) { throw failure }
        try note(units, connection)
    }

    /// The realms with something in them. What comes later is caught up with later, and a realm
    /// that was born after the build is append's.
    private func heads(_ connection: Connection) throws(Postgres.Failure) -> [(String, Int64)] {
        var parameters = Parameters()
        parameters.add(projection.name)
        parameters.add(Int32(build))
        let rows = try connection.executeOnce(
            """
            select h.realm, h.position
            from urd.projection_position p join urd.realm_log h on h.realm = p.realm
            where p.projection = $1 and p.build = $2 and not p.attached and p.position = 0
                and h.position > 0
            order by 2, 1
            """, parameters)
        return (0..<rows.count).map { (rows.text($0, 0), rows.int64($0, 1)) }
    }

    /// The life of one thread.
    private func work(_ progress: Monitor<Progress>) {
        do throws(Postgres.Failure) {
            let connection = try engine.connect()
            while let unit = progress.withLock({ $0.failure == nil ? $0.units.popLast() : nil }) {
                if let shard = unit.shard {
                    try share(unit, shard, connection, progress)
                } else {
                    try whole(unit, connection, progress)
                }
            }
        } catch {
            progress.withLock { $0.failure = $0.failure ?? error }
        }
        progress.withLock { $0.running -= 1 }
        progress.wakeAll()
    }

    private func share(
        _ unit: Unit, _ shard: Int, _ connection: Connection, _ progress: Monitor<Progress>
    ) throws(Postgres.Failure) {
        var position: Int64 = 0
        while position < unit.head, progress.withLock({ $0.failure == nil }) {
            let last = min(position + Self.page, unit.head)
            var parameters = Parameters()
            parameters.add(unit.realm)
            parameters.add(position + 1)
            parameters.add(last)
            parameters.add(Int32(shard))
            parameters.add(Int32(engine.workers))
            try connection.executeOnce(
                "select \(projection.applyName(build))($1, $2, $3, null, $4, $5)", parameters)
            let moved = (last - position) / Int64(engine.workers)
            position = last
            advance(moved, progress)
        }
    }

    private func whole(
        _ unit: Unit, _ connection: Connection, _ progress: Monitor<Progress>
    ) throws(Postgres.Failure) {
        var position: Int64 = 0
        while position < unit.head, progress.withLock({ $0.failure == nil }) {
            guard
                let step = try Step.project(
                    unit.realm, projection.name, build, page: Self.page, until: unit.head,
                    connection), step.halted == nil
            else { return }
            advance(step.position - position, progress)
            position = step.position
        }
    }

    private func advance(_ events: Int64, _ progress: Monitor<Progress>) {
        progress.withLock { $0.applied += events }
        progress.wakeAll()
    }

    /// Positions of shared realms are told once all shares are in.
    private func note(_ units: [Unit], _ connection: Connection) throws(Postgres.Failure) {
        for unit in units where unit.shard == 0 {
            var parameters = Parameters()
            parameters.add(unit.realm)
            parameters.add(projection.name)
            parameters.add(Int32(build))
            parameters.add(unit.head)
            try connection.executeOnce(
                """
                update urd.projection_position set position = $4
                where realm = $1 and projection = $2 and build = $3
                """, parameters)
        }
    }
}
