import EventSourcing
public import EventStore
import JSON
public import Postgres
import Synchronization
public import Telemetry

/// Moves following projections behind the log, and brings inline ones that halted back to it.
///
/// Each realm and projection goes on by itself: one that halts stops nobody else. Several nodes may
/// run this at once; the row that says how far a build is lets one of them at it at a time.
public final class ProjectionFollower: Sendable {
    let database: Database
    let hub: CommitHub
    let log: Log
    let page: Int64
    let metrics: FollowingMetrics
    private let registry = Mutex(Registry())

    struct Registry {
        /// The live build of each following projection.
        var live: [String: Int] = [:]
        var running: Set<Track> = []
    }

    /// One thing to follow: a build in a realm.
    struct Track: Hashable, Sendable {
        let projection: String
        let build: Int
        let realm: RealmID

        init(projection: String, build: Int, realm: RealmID) {
            self.projection = projection
            self.build = build
            self.realm = realm
        }

        init?(_ rows: Rows, _ row: Int) {
            guard let realm = RealmID(rows.text(row, 2)) else { return nil }
            self.init(
                projection: rows.text(row, 0), build: Int(rows.int32(row, 1)), realm: realm)
        }
    }

    /// How often builds, realms and inline projections are looked at.
    static var round: Duration { .milliseconds(250) }
    static var breath: Duration { .milliseconds(10) }
    /// After a page of this many events or more the next may be fuller yet.
    static var crowd: Int64 { 16 }
    static var longBreath: Duration { .milliseconds(100) }
    static var longestPause: Duration { .seconds(30) }

    /// - Parameters:
    ///   - database: as the application's role, with connections of its own.
    ///   - hub: tells of commits; somebody must poll it for those of other nodes.
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

    /// Runs until it is cancelled. An outage of the database is waited out.
    public func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await self.mendInline() }
            group.addTask { try await self.lookForLost() }
            while true {
                try Task.checkCancellation()
                for (track, position) in await begin() {
                    group.addTask { await self.follow(track, from: position) }
                }
                try await Task.sleep(for: Self.round)
            }
        }
    }

    /// Tracks that nobody follows yet, and how far each is.
    private func begin() async -> [(Track, Int64)] {
        guard
            let builds = try? await database.run({ connection throws(Postgres.Failure) in
                let rows = try connection.execute(readingBuilds)
                return (0..<rows.count).map { (rows.text($0, 0), Int(rows.int32($0, 1))) }
            })
        else { return [] }
        let realms = hub.realms
        let tracks = registry.withLock { registry in
            registry.live = Dictionary(builds, uniquingKeysWith: max)
            return realms.flatMap { realm in
                builds.map { Track(projection: $0.0, build: $0.1, realm: realm) }
            }.filter { registry.running.insert($0).inserted }
        }
        guard !tracks.isEmpty else { return [] }
        let known = await positions()
        return tracks.map { ($0, known[$0] ?? 0) }
    }

    /// Not asked for track by track: after a start there may be many, and most of them idle.
    private func positions() async -> [Track: Int64] {
        let found = try? await database.run { connection throws(Postgres.Failure) in
            let rows = try connection.execute(readingPositions)
            return (0..<rows.count).compactMap { row in
                Track(rows, row).map { ($0, rows.int64(row, 3)) }
            }
        }
        return Dictionary(found ?? [], uniquingKeysWith: max)
    }

    private func isLive(_ track: Track) -> Bool {
        registry.withLock { $0.live[track.projection] == track.build }
    }

    /// The life of one track: until its build is replaced.
    private func follow(_ track: Track, from start: Int64) async {
        defer { registry.withLock { _ = $0.running.remove(track) } }
        var position = start
        var pause = Duration.milliseconds(20)
        var isHalted = false
        while !Task.isCancelled, isLive(track) {
            await hub.wait(past: position, in: track.realm)
            let moved = await move(track)
            switch moved {
            case .by(let step) where step.halted == nil:
                // A page that was not full may fill up: a busy log is not asked for each commit.
                if step.position - position < page {
                    let isPatient = step.position - position >= Self.crowd
                    try? await Task.sleep(for: isPatient ? Self.longBreath : Self.breath)
                }
                position = step.position
                pause = .milliseconds(20)
                if isHalted {
                    isHalted = false
                    tell(goesOn: track)
                }
                metrics.note(
                    track.projection, track.realm.name, lag: step.head - step.position,
                    isHalted: false)
                continue
            case .by(let step):
                metrics.note(
                    track.projection, track.realm.name, lag: step.head - step.position,
                    isHalted: true)
                if !isHalted, let halt = step.halted {
                    isHalted = true
                    tell(track, halt)
                }
                pause = min(max(pause, .milliseconds(500)) * 2, Self.longestPause)
            case .elsewhere:
                pause = min(pause * 2, .milliseconds(500))
            case .unreachable:
                pause = min(pause * 2, .seconds(2))
            }
            await sleep(pause, while: track)
        }
    }

    enum Move {
        case by(Step)
        /// Another node is at it.
        case elsewhere
        case unreachable
    }

    func move(_ track: Track) async -> Move {
        do {
            let step = try await database.run { [page] connection throws(Postgres.Failure) in
                try Step.project(
                    track.realm.name, track.projection, track.build, page: page, connection)
            }
            return step.map { .by($0) } ?? .elsewhere
        } catch {
            return .unreachable
        }
    }

    /// Sleeps in short naps, so that a new build doesn't have to wait for an old one's pause.
    private func sleep(_ pause: Duration, while track: Track) async {
        let clock = ContinuousClock()
        let deadline = clock.now + pause
        while clock.now < deadline, !Task.isCancelled, isLive(track) {
            try? await Task.sleep(for: min(deadline - clock.now, Self.round))
        }
    }
}

// MARK: - Telling

extension ProjectionFollower {
    func tell(_ track: Track, _ halt: Step.Halt) {
        log.error(
            "projection.halted",
            [
                "projection": .string(track.projection), "build": .integer(Int64(track.build)),
                "realm": .string(track.realm.name), "position": .integer(halt.position),
                "why": .string(halt.why),
            ])
    }

    func tell(goesOn track: Track) {
        log.notice(
            "projection.resumed",
            [
                "projection": .string(track.projection), "build": .integer(Int64(track.build)),
                "realm": .string(track.realm.name),
            ])
    }
}

private let readingBuilds = Statement(
    "live_following_builds",
    "select projection, build from urd.projection_build where status = 'live' and not inline")
private let readingPositions = Statement(
    "live_following_positions",
    """
    select p.projection, p.build, p.realm, p.position
    from urd.projection_build b
    join urd.projection_position p on p.projection = b.projection and p.build = b.build
    where b.status = 'live' and not b.inline
    """)
