import EventSourcing
public import EventStore
import JSON
public import Postgres
import Synchronization
public import Telemetry

/// Moves following projections behind the log, and brings those that halted back to it.
///
/// The projections of a realm walk together, so that a page of the log is read once for all of them.
/// One that halts stops no other: it is left behind, and mended by itself. Several nodes may run
/// this at once; the rows that say how far builds are let one of them at each at a time.
public final class ProjectionFollower: Sendable {
    let database: Database
    let hub: CommitHub
    let log: Log
    let page: Int64
    let metrics: FollowingMetrics

    /// One build in a realm.
    struct RealmBuild: Hashable, Sendable {
        let projection: String
        let build: Int
        let realm: RealmID

        init?(_ rows: Rows, _ row: Int) {
            guard let realm = RealmID(rows.text(row, 2)) else { return nil }
            projection = rows.text(row, 0)
            build = Int(rows.int32(row, 1))
            self.realm = realm
        }
    }

    /// How often realms and halted projections are looked at.
    static var round: Duration { .milliseconds(250) }
    static var idleDelay: Duration { .milliseconds(10) }
    /// After a page of this many events or more the next may be fuller yet.
    static var crowd: Int64 { 16 }
    static var busyDelay: Duration { .milliseconds(100) }
    static var longestPause: Duration { .seconds(30) }

    /// - Parameters:
    ///   - database: as the application's role, with connections of its own.
    ///   - hub: tells of commits; a caller must poll it for those of other nodes.
    public init(
        _ database: Database, hub: CommitHub, metrics: Metrics = Metrics(), log: Log = .silent,
        page: Int = 1000
    ) {
        self.database = database
        self.hub = hub
        self.log = log
        self.page = Int64(page)
        self.metrics = FollowingMetrics(metrics)
    }

    /// Runs until the task is cancelled. An outage of the database is waited out.
    public func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await self.mend() }
            group.addTask { try await self.lookForLost() }
            var begun: Set<RealmID> = []
            while true {
                try Task.checkCancellation()
                let new = hub.realms.filter { !begun.contains($0) }
                if !new.isEmpty, let positions = await positions() {
                    for realm in new {
                        group.addTask { await self.walk(realm, from: positions[realm] ?? 0) }
                    }
                    begun.formUnion(new)
                }
                try await hub.rest(Self.round, longest: .seconds(2))
            }
        }
    }

    /// Not asked for realm by realm: after a start there may be many, and most of them idle.
    private func positions() async -> [RealmID: Int64]? {
        try? await database.run { connection throws(Postgres.Failure) in
            let rows = try connection.execute(readingPositions)
            return Dictionary(
                (0..<rows.count).compactMap { row in
                    RealmID(rows.text(row, 0)).map { ($0, rows.int64(row, 1)) }
                }, uniquingKeysWith: min)
        }
    }

    /// Follows the log of one realm for ever.
    private func walk(_ realm: RealmID, from start: Int64) async {
        var position = start
        var pause = Duration.milliseconds(20)
        var restarts = hub.restarts(of: realm)
        while !Task.isCancelled {
            // A restored log may be shorter than what was walked of the lost one.
            await hub.wait(past: position, in: realm, since: restarts)
            restarts = hub.restarts(of: realm)
            switch await step(realm) {
            case .walked(let last, let first, let head):
                pause = .milliseconds(20)
                let moved = last - position
                position = last
                // A page that was not full may fill up: a busy log is not asked for each commit.
                if last == first, moved < page || last == head {
                    try? await Task.sleep(
                        for: moved >= Self.crowd ? Self.busyDelay : Self.idleDelay)
                }
                continue
            case .nowhere: pause = min(pause * 2, .milliseconds(500))
            case .unreachable: pause = min(pause * 2, .seconds(2))
            }
            try? await Task.sleep(for: pause)
        }
    }

    private enum WalkOutcome {
        /// Where the last and the first of those who walk are now.
        case walked(last: Int64, first: Int64, head: Int64)
        /// Another node is at it, or none is left to walk.
        case nowhere
        case unreachable
    }

    private func step(_ realm: RealmID) async -> WalkOutcome {
        let page = Int32(clamping: page)
        let found = try? await database.run { connection throws(Postgres.Failure) in
            var parameters = Parameters()
            parameters.add(realm.name)
            parameters.add(page)
            let rows = try connection.execute(walking, parameters)
            return (0..<rows.count).map { row in
                (
                    projection: rows.text(row, 0), position: rows.int64(row, 1),
                    head: rows.int64(row, 2), walks: rows.bool(row, 3)
                )
            }
        }
        guard let found else { return .unreachable }
        for one in found {
            metrics.note(one.projection, realm.name, lag: one.head - one.position)
        }
        let walkers = found.filter(\.walks)
        guard let last = walkers.map(\.position).min(), let first = walkers.map(\.position).max()
        else { return .nowhere }
        return .walked(last: last, first: first, head: walkers[0].head)
    }
}

// MARK: - Telling

extension ProjectionFollower {
    func tell(_ track: RealmBuild, _ halt: Step.Halt) {
        log.error(
            "projection.halted",
            [
                "projection": .string(track.projection), "build": .integer(Int64(track.build)),
                "realm": .string(track.realm.name), "position": .integer(halt.position),
                "why": .string(halt.why),
            ])
    }

    func tell(goesOn track: RealmBuild) {
        log.notice(
            "projection.resumed",
            [
                "projection": .string(track.projection), "build": .integer(Int64(track.build)),
                "realm": .string(track.realm.name),
            ])
    }
}

private let readingPositions = Statement(
    "live_following_positions",
    """
    select p.realm, coalesce(min(p.position), 0)
    from urd.projection_build b
    join urd.projection_position p on p.projection = b.projection and p.build = b.build
    where b.status = 'live' and not b.inline and p.halted_at is null
    group by p.realm
    """)
private let walking = Statement(
    "walk", "select o_projection, o_position, o_head, o_walks from urd.walk($1, $2)")
