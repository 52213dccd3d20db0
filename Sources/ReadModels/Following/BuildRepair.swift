import EventSourcing
import EventStore
import Postgres

extension ProjectionFollower {
    /// Those that stand still are looked for, told of, and brought back: following ones to the others
    /// of their realm, inline ones, which are append's business, to append.
    func mend() async throws {
        var standing: [RealmBuild: Standing] = [:]
        let clock = ContinuousClock()
        var enrolled: ContinuousClock.Instant?
        while true {
            try Task.checkCancellation()
            if enrolled.map({ clock.now - $0 > .seconds(30) }) ?? true {
                enrolled = clock.now
                try? await enroll()
            }
            for one in await standingStill(&standing) {
                let before = standing[one.track]
                if before == nil, let halt = one.halt { tell(one.track, halt) }
                let halt = await mend(one)
                if before == nil, one.halt == nil {
                    // New to a realm, not at a standstill.
                    guard let halt else { continue }
                    tell(one.track, halt)
                }
                let pause = min((before?.pause ?? .milliseconds(500)) * 2, Self.longestPause)
                standing[one.track] = Standing(until: clock.now + pause, pause: pause)
            }
            // One halts with an event, and one that stands still is tried again.
            try await hub.rest(Self.round, longest: standing.isEmpty ? Self.lostRound : Self.round)
        }
    }

    /// The time of the next attempt, and the back-off before it.
    private struct Standing {
        let until: ContinuousClock.Instant
        let pause: Duration
    }

    private struct Halted {
        let track: RealmBuild
        let isInline: Bool
        let halt: Step.Halt?
    }

    /// The halted builds whose turn it is. Builds that run again are reported.
    private func standingStill(_ standing: inout [RealmBuild: Standing]) async -> [Halted] {
        let found = try? await database.run { connection throws(Postgres.Failure) in
            let rows = try connection.execute(readingHalted)
            return (0..<rows.count).compactMap { row -> Halted? in
                guard let track = RealmBuild(rows, row) else { return nil }
                return Halted(
                    track: track, isInline: rows.bool(row, 3),
                    halt: rows.isNull(row, 4)
                        ? nil : Step.Halt(position: rows.int64(row, 4), why: rows.text(row, 5)))
            }
        }
        guard let found else { return [] }
        metrics.note(halted: found.map { ($0.track.projection, $0.track.realm.name) })
        let tracks = Set(found.map(\.track))
        for track in standing.keys where !tracks.contains(track) {
            tell(goesOn: track)
            standing[track] = nil
        }
        let now = ContinuousClock.now
        return found.filter { standing[$0.track].map { $0.until <= now } ?? true }
    }

    /// A realm's first append enrols it with every build; this is for the one that was under way
    /// while a build was registered.
    private func enroll() async throws {
        try await database.run { connection throws(Postgres.Failure) in
            _ = try connection.execute(enrolling)
        }
    }

    private enum Mended {
        case halted(Step.Halt)
        case further
        case asFarAsPossible
    }

    /// Runs the build until it has caught up with the others. Returns the fault otherwise.
    private func mend(_ one: Halted) async -> Step.Halt? {
        while !Task.isCancelled {
            let mended = try? await database.run { [page] connection throws(Postgres.Failure) in
                let step = try Step.project(one.track, page: page, connection)
                if !one.isInline { self.noteLag(of: one.track, step) }
                if let halted = step?.halted { return Mended.halted(halted) }
                if let step, step.head - step.position > 500 { return .further }
                if one.isInline {
                    _ = try Step.attach(
                        one.track.realm.name, one.track.projection, one.track.build, connection)
                }
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

    /// A walk waits to be woken. Should that ever fail, after a restore for one, where positions
    /// come a second time, the track is moved from here; so are stragglers, for which no reader waits.
    func lookForLost() async throws {
        while true {
            try await Task.sleep(for: Self.lostRound)
            let lost = try? await database.run { connection throws(Postgres.Failure) in
                let rows = try connection.execute(readingLost)
                return (0..<rows.count).compactMap { RealmBuild(rows, $0) }
            }
            for track in lost ?? [] {
                while !Task.isCancelled, let step = await move(track), step.halted == nil,
                    step.position < step.head
                {}
            }
        }
    }

    private func move(_ track: RealmBuild) async -> Step? {
        let step = try? await database.run { [page] connection throws(Postgres.Failure) in
            try Step.project(track, page: page, connection)
        }
        noteLag(of: track, step)
        return step
    }

    private func noteLag(of track: RealmBuild, _ step: Step?) {
        guard let step else { return }
        metrics.note(track.projection, track.realm.name, lag: step.head - step.position)
    }

    private static var lostRound: Duration { .seconds(5) }
}

private let readingHalted = Statement(
    "halted_builds",
    """
    select p.projection, p.build, p.realm, b.inline, p.halted_at, p.halted_why
    from urd.projection_build b
    join urd.projection_position p on p.projection = b.projection and p.build = b.build
    where b.status = 'live' and b.inline and not p.attached
    union all
    select p.projection, p.build, p.realm, b.inline, p.halted_at, p.halted_why
    from urd.projection_build b
    join urd.projection_position p on p.projection = b.projection and p.build = b.build
    where b.status = 'live' and not b.inline and p.halted_at is not null
    """)
private let readingLost = Statement(
    "lost_tracks",
    """
    select p.projection, p.build, p.realm
    from urd.projection_build b
    join urd.projection_position p on p.projection = b.projection and p.build = b.build
    join urd.realm_log h on h.realm = p.realm
    where b.status = 'live' and not b.inline and p.position < h.position and p.halted_at is null
    order by h.position - p.position desc limit 100
    """)
private let enrolling = Statement("projection_enroll", "select urd.enroll()")

extension Step {
    fileprivate static func project(
        _ track: ProjectionFollower.RealmBuild, page: Int64, _ connection: Connection
    ) throws(Postgres.Failure) -> Step? {
        try project(track.realm.name, track.projection, track.build, page: page, connection)
    }
}
