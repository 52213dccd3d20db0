internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Telemetry
internal import Values

/// A part of the log as it happened, at a speed: the frames of the feed, each when it is its turn, and the time of the
/// replay once a second.
struct ReplayStream: Sendable {
    private static let page = 500

    let place: FeedPlace
    let following: EventFollowing
    let filter: EventFilter
    let form: FeedForm
    let start: LogCursor
    /// The last position that is replayed, and the time behind which nothing is.
    let end: Int64
    let until: Timestamp?
    let subjects: EventSubjects?
    let clock: ReplayClock

    /// Where the replay is.
    private struct Progress {
        var cursor: LogCursor
        var clock: ReplayClock
        /// The time of the last clock frame.
        var toldAt = ContinuousClock.now
        var count: Int64 = 0
    }

    var response: Response {
        var response = Response(status: .ok, stream: BodyStream { try await run($0) })
        response.headers["Content-Type"] = form.framing.contentType
        response.headers["X-Accel-Buffering"] = "no"
        return response
    }

    private func run(_ writer: BodyStream.Writer) async throws {
        var progress = Progress(cursor: start, clock: clock)
        try await writer.write(form.opening(at: start, head: end))
        while !Task.isCancelled, progress.cursor.position < end {
            guard try await sendPage(&progress, writer) else { return }
        }
        let members: JSONObject = [
            "position": .integer(progress.cursor.position), "events": .integer(progress.count),
        ]
        try await writer.write(form.told("urd.replayed", at: progress.cursor, members))
    }

    /// False where the replay is over before its end.
    private func sendPage(
        _ progress: inout Progress, _ writer: BodyStream.Writer
    ) async throws -> Bool {
        guard try await isPermitted(writer) else { return false }
        var reached = progress.cursor
        let read: EventRing.Page?
        do {
            read = try await following.page(after: &reached, limit: Self.page)
        } catch {
            guard error.isLasting else {
                // Nothing is lost: it is read as soon as it can be.
                try await Task.sleep(for: .milliseconds(250))
                return true
            }
            return try await refuse(Problem(of: error), writer)
        }
        switch read {
        case nil: return false
        case .lost(let kept):
            let problem = Problem(lostBehind: kept, epoch: progress.cursor.epoch)
            return try await refuse(problem, writer)
        case .failed(.hole(let position)):
            let text = "Position \(position) is missing; urd verify says more."
            place.feeds.holes.add()
            return try await refuse(Problem(.logDamaged, text), writer)
        case .failed(.log(let failure)): return try await refuse(Problem(of: failure), writer)
        case .events(let events, let head):
            let within = events.filter { $0.position <= end }
            progress.cursor = LogCursor(epoch: head.epoch, position: progress.cursor.position)
            guard let wanted = try await wanted(within, head.epoch) else { return true }
            for event in wanted {
                if let until, event.at > until { continue }
                guard try await pause(before: event, &progress, writer) else { return false }
                progress.cursor = LogCursor(epoch: head.epoch, position: event.position)
                try await writer.write(form.event(event, at: progress.cursor))
                progress.count += 1
                place.feeds.sent.add(1)
            }
            let last = within.last?.position ?? end
            progress.cursor = LogCursor(epoch: head.epoch, position: last)
            // A page of which nothing is sent moves the reader's place all the same.
            if wanted.isEmpty {
                try await writer.write(form.progress(at: progress.cursor, head: end))
            }
            return true
        }
    }

    /// Nil where the index does not hold the events yet.
    private func wanted(_ events: [Recorded], _ epoch: Int) async throws -> [Recorded]? {
        let chosen = events.filter { filter.wants($0) }
        guard let subjects else { return chosen }
        let found = try await subjects.positions(of: chosen, epoch: epoch, within: .seconds(1))
        return found.map { found in chosen.filter { found.contains($0.position) } }
    }

    /// Waits until it is the event's turn, and tells the time meanwhile. False where the reader may read no more.
    private func pause(
        before event: Recorded, _ progress: inout Progress, _ writer: BodyStream.Writer
    ) async throws -> Bool {
        let due = ContinuousClock.now + progress.clock.pause(before: event.at)
        while true {
            let now = ContinuousClock.now
            if now - progress.toldAt >= .seconds(1) {
                progress.toldAt = now
                guard try await isPermitted(writer) else { return false }
                let time = progress.clock.time(left: max(.zero, due - now))
                try await tell(time, progress, writer)
            }
            guard now < due else { return true }
            try await Task.sleep(until: min(due, progress.toldAt + .seconds(1)), clock: .continuous)
        }
    }

    private func tell(
        _ time: Timestamp?, _ progress: Progress, _ writer: BodyStream.Writer
    ) async throws {
        var members: JSONObject = [
            "position": .integer(progress.cursor.position), "speed": .integer(clock.speed),
            "end": .integer(end),
        ]
        members["time"] = time.map { .string($0.description) }
        try await writer.write(form.told("urd.clock", at: progress.cursor, members))
    }

    /// False where the reader's key has ended; it is told.
    private func isPermitted(_ writer: BodyStream.Writer) async throws -> Bool {
        switch place.standing {
        case .good: return true
        case .revoked: return try await refuse(Problem(.unauthenticated), writer)
        case .unknown: return try await refuse(Problem(.unavailable), writer)
        }
    }

    private func refuse(_ problem: Problem, _ writer: BodyStream.Writer) async throws -> Bool {
        try await writer.write(form.error(problem))
        return false
    }
}
