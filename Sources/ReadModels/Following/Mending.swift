import EventSourcing
import Postgres

extension ProjectionFollower {
    /// Inline projections are append's business. One that halted, or is new to a realm, is caught
    /// up here and handed over again.
    func mendInline() async throws {
        var pauses: [Track: (until: ContinuousClock.Instant, pause: Duration)] = [:]
        let clock = ContinuousClock()
        var enrolled: ContinuousClock.Instant?
        while true {
            try Task.checkCancellation()
            if enrolled.map({ clock.now - $0 > .seconds(30) }) ?? true {
                enrolled = clock.now
                try? await enroll()
            }
            let detached = await tracks(readingDetached)
            metrics.note(haltedInline: detached.map { ($0.projection, $0.realm.name) })
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
            return (0..<rows.count).compactMap { Track(rows, $0) }
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

    /// Whoever follows waits to be woken. Should that ever fail, after a restore for one, where
    /// positions come a second time, the track is moved from here.
    func lookForLost() async throws {
        while true {
            try await Task.sleep(for: Self.lostRound)
            for track in await tracks(readingLost) {
                while !Task.isCancelled, case .by(let step) = await move(track),
                    step.halted == nil, step.position < step.head
                {}
            }
        }
    }

    private static var lostRound: Duration { .seconds(5) }
}

private let readingDetached = Statement(
    "detached_builds",
    """
    select p.projection, p.build, p.realm
    from urd.projection_build b
    join urd.projection_position p on p.projection = b.projection and p.build = b.build
    where b.status = 'live' and b.inline and not p.attached
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
