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
    private let metrics: FollowingMetrics
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
    }

    /// How often builds, realms and inline projections are looked at.
    private static var round: Duration { .milliseconds(250) }
    private static var longestPause: Duration { .seconds(30) }

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
            while true {
                try Task.checkCancellation()
                for track in await begin() {
                    group.addTask { await self.follow(track) }
                }
                try await Task.sleep(for: Self.round)
            }
        }
    }

    /// Tracks that nobody follows yet.
    private func begin() async -> [Track] {
        guard
            let builds = try? await database.run({ connection throws(Postgres.Failure) in
                let rows = try connection.execute(readingBuilds)
                return (0..<rows.count).map { (rows.text($0, 0), Int(rows.int32($0, 1))) }
            })
        else { return [] }
        let realms = hub.realms
        return registry.withLock { registry in
            registry.live = Dictionary(builds, uniquingKeysWith: max)
            return realms.flatMap { realm in
                builds.map { Track(projection: $0.0, build: $0.1, realm: realm) }
            }.filter { registry.running.insert($0).inserted }
        }
    }

    private func isLive(_ track: Track) -> Bool {
        registry.withLock { $0.live[track.projection] == track.build }
    }

    /// The life of one track: until its build is replaced.
    private func follow(_ track: Track) async {
        defer { registry.withLock { _ = $0.running.remove(track) } }
        var position: Int64 = 0
        var pause = Duration.milliseconds(20)
        var isHalted = false
        while !Task.isCancelled, isLive(track) {
            await hub.wait(past: position, in: track.realm)
            let moved = await move(track)
            switch moved {
            case .by(let step) where step.halted == nil:
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
                pause = .milliseconds(20)
            case .unreachable:
                pause = min(pause * 2, .seconds(2))
            }
            await sleep(pause, while: track)
        }
    }

    private enum Move {
        case by(Step)
        /// Another node is at it.
        case elsewhere
        case unreachable
    }

    private func move(_ track: Track) async -> Move {
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

// MARK: - Inline

extension ProjectionFollower {
    /// Inline projections are append's business. One that halted, or is new to a realm, is caught
    /// up here and handed over again. So is one that append passed by because somebody held its
    /// row: append goes on only where it left off, so that it would stay behind for ever.
    private func mendInline() async throws {
        var pauses: [Track: (until: ContinuousClock.Instant, pause: Duration)] = [:]
        let clock = ContinuousClock()
        var enrolled: ContinuousClock.Instant?
        var looked: ContinuousClock.Instant?
        while true {
            try Task.checkCancellation()
            if enrolled.map({ clock.now - $0 > .seconds(30) }) ?? true {
                enrolled = clock.now
                try? await enroll()
            }
            let detached = await tracks(readingDetached)
            metrics.note(haltedInline: detached.map { ($0.projection, $0.realm.name) })
            if looked.map({ clock.now - $0 > .seconds(1) }) ?? true {
                looked = clock.now
                for track in await tracks(readingPassedBy) { _ = await mend(track) }
            }
            pauses = pauses.filter { detached.contains($0.key) }
            for track in detached where pauses[track].map({ $0.until <= clock.now }) ?? true {
                let known = pauses[track]
                guard let halt = await mend(track) else { continue }
                if known == nil { tell(track, halt) }
                let pause = min((known?.pause ?? .milliseconds(500)) * 2, Self.longestPause)
                pauses[track] = (clock.now + pause, pause)
            }
            try await Task.sleep(for: Self.round)
        }
    }

    /// A realm's first append enrols it with every build; this is for the one that was under way
    /// while a build was registered.
    private func enroll() async throws {
        try await database.run { connection throws(Postgres.Failure) in
            _ = try connection.execute(enrolling)
        }
    }

    private func tracks(_ statement: Statement) async -> Set<Track> {
        let found = try? await database.run { connection throws(Postgres.Failure) in
            let rows = try connection.execute(statement)
            return (0..<rows.count).compactMap { row in
                RealmID(rows.text(row, 2)).map {
                    Track(
                        projection: rows.text(row, 0), build: Int(rows.int32(row, 1)), realm: $0)
                }
            }
        }
        return Set(found ?? [])
    }

    private enum Mended {
        case halted(Step.Halt)
        case further
        case asFarAsPossible
    }

    /// Goes on until it is attached. Returns why it could not.
    private func mend(_ track: Track) async -> Step.Halt? {
        while !Task.isCancelled {
            let mended = try? await database.run { [page] connection throws(Postgres.Failure) in
                let step = try Step.project(
                    track.realm.name, track.projection, track.build, page: page, connection)
                if let halted = step?.halted { return Mended.halted(halted) }
                if let step, step.head - step.position > 500 { return .further }
                _ = try Step.attach(
                    track.realm.name, track.projection, track.build, connection)
                return .asFarAsPossible
            }
            switch mended {
            case .halted(let halt): return halt
            case .further: continue
            case .asFarAsPossible, nil: return nil
            }
        }
        return nil
    }

    private func tell(_ track: Track, _ halt: Step.Halt) {
        log.error(
            "projection.halted",
            [
                "projection": .string(track.projection), "build": .integer(Int64(track.build)),
                "realm": .string(track.realm.name), "position": .integer(halt.position),
                "why": .string(halt.why),
            ])
    }

    private func tell(goesOn track: Track) {
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
private let readingDetached = Statement(
    "detached_builds",
    """
    select p.projection, p.build, p.realm
    from urd.projection_build b
    join urd.projection_position p on p.projection = b.projection and p.build = b.build
    where b.status = 'live' and b.inline and not p.attached
    """)
private let readingPassedBy = Statement(
    "passed_builds",
    """
    select p.projection, p.build, p.realm
    from urd.projection_build b
    join urd.projection_position p on p.projection = b.projection and p.build = b.build
    join urd.realm_log h on h.realm = p.realm
    where b.status = 'live' and b.inline and p.attached and p.position <> h.position
    """)
private let enrolling = Statement("projection_enroll", "select urd.enroll()")
