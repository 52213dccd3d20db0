internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The events of a realm that are asked for, in pages.
struct EventPages: Sendable {
    struct Page {
        var events: [Recorded] = []
        /// Up to where the log was looked at.
        var reached: Int64
        var hasMore = false
        /// Whether a position is missing behind the page: events were searched only up to there.
        var endsAtHole = false
    }

    /// So many events are looked at for one answer, however few are wanted.
    private static let mostRead = 10_000
    private static let readAtOnce = 1000

    let context: AdminContext
    let realm: RealmID
    let about: EventReferences
    let filter: EventFilter
    /// Where the index says what is wanted of those.
    var subjects: EventSubjects?
    let limit: Int

    /// What is wanted behind a position.
    func page(after position: Int64) async throws(Problem) -> Page {
        var page = Page(reached: position)
        // Without a condition all that is read is wanted, and one more tells whether there is a next page.
        let isWhole = filter == EventFilter() && subjects == nil
        let count = isWhole ? limit + 1 : Self.readAtOnce
        var (place, read) = (position, 0)
        while read < Self.mostRead {
            let part = try await part(after: place, limit: count)
            for event in try await wanted(part) {
                guard page.events.count < limit else {
                    page.reached = page.events.last?.position ?? position
                    page.hasMore = true
                    return page
                }
                page.events.append(event)
            }
            (place, read) = (part.reached, read + part.read)
            page.reached = place
            if part.endsAtHole {
                page.endsAtHole = true
                break
            }
            if part.read < count { return page }
        }
        page.hasMore = true
        return page
    }

    private func wanted(_ part: Part) async throws(Problem) -> [Recorded] {
        let events = part.events.filter { filter.wants($0) }
        guard let subjects else { return events }
        let found: Set<Int64>?
        do {
            found = try await subjects.positions(
                of: events, epoch: part.epoch, within: .seconds(3))
        } catch {
            throw Problem(.unavailable)
        }
        guard let found else {
            let now = try await context.ask(FollowedPosition.now, .eventIndex, in: realm)
            throw now.map { Problem(notReached: events.last?.position, $0) }
                ?? Problem(.positionNotReached)
        }
        return events.filter { found.contains($0.position) }
    }

    private struct Part {
        let epoch: Int
        let events: [Recorded]
        let read: Int
        let reached: Int64
        /// Whether the log has further events that cannot be read.
        var endsAtHole = false
    }

    private func part(after position: Int64, limit: Int) async throws(Problem) -> Part {
        let log = context.commands.events
        guard about.isEmpty else {
            return try await reading { () throws(LogFailure) in
                let found = try await context.queries.ask(
                    EventReferences.positions, (about, position, limit), in: realm)
                let page = try await log.page(at: found.value, in: realm)
                // What the index knows was there.
                let present = Set(page.events.map(\.position))
                if let hole = found.value.first(where: { !present.contains($0) }) {
                    let whole = page.events.filter { $0.position < hole }
                    guard let last = whole.last else { throw .damaged }
                    return Part(
                        epoch: page.head.epoch, events: whole, read: whole.count,
                        reached: last.position, endsAtHole: true)
                }
                let isEnd = found.value.count < limit && found.epoch == page.head.epoch
                return Part(
                    epoch: page.head.epoch, events: page.events, read: found.value.count,
                    reached: max(
                        found.value.last ?? position, isEnd ? found.position : position))
            }
        }
        let page = try await reading { () throws(LogFailure) in
            try await log.page(from: position + 1, limit: limit, in: realm)
        }
        guard let hole = page.hole(after: position) else {
            return Part(
                epoch: page.head.epoch, events: page.events, read: page.events.count,
                reached: page.events.last?.position ?? position)
        }
        // A reader has all that is before it, is told then, and goes on behind it if it wants to.
        guard hole > position + 1 else {
            throw Problem(.logDamaged, "Position \(hole) is missing; urd verify says more.")
        }
        let whole = page.whole(after: position)
        return Part(
            epoch: page.head.epoch, events: whole, read: whole.count, reached: hole - 1,
            endsAtHole: true)
    }
}

/// An answer that waits for the next event that is wanted (long poll).
struct AwaitedEvents: Sendable {
    let pages: EventPages
    let start: LogPlace
    let place: FeedPlace
    let following: EventFollowing
    let seconds: UInt64

    func run(_ writer: BodyStream.Writer) async throws {
        let end = following.ticks + seconds
        var cursor = LogCursor(epoch: start.epochs.head.epoch, position: start.position)
        while true {
            let alarms = following.alarms
            _ = await following.wait(past: cursor, since: alarms, until: end)
            try Task.checkCancellation()
            if !pages.about.isEmpty {
                // The index follows at a small distance.
                _ = try await pages.context.queries.ask(
                    FollowedPosition.reached, (.eventIndex, following.last, cursor.epoch),
                    in: pages.realm)
            }
            let now = try await pages.context.commands.events.page(
                from: 1, limit: 1, in: pages.realm
            ).epochs
            // What became of a place in an epoch that is over is told to the next request, before its first byte.
            let isOver = now.head.epoch != cursor.epoch || place.standing != .good
            let page = isOver ? nil : try await pages.page(after: cursor.position)
            if let page, !page.events.isEmpty || page.hasMore {
                return try await write(page, writer)
            }
            if page == nil || following.ticks >= end {
                return try await write(
                    EventPages.Page(reached: page?.reached ?? cursor.position), writer)
            }
            let reached = page?.reached ?? cursor.position
            if reached == cursor.position { try await Task.sleep(for: .milliseconds(100)) }
            cursor = LogCursor(epoch: cursor.epoch, position: reached)
        }
    }

    private func write(_ page: EventPages.Page, _ writer: BodyStream.Writer) async throws {
        try await writer.write(start.answer(page).body)
    }
}

extension LogPlace {
    func answer(_ page: EventPages.Page) -> Response {
        var place = self
        if page.endsAtHole {
            let head = max(standing?.head ?? 0, epochs.head.position)
            place.standing = ListStanding(position: page.reached, head: head)
        }
        return place.page(
            page.events.map { EventEnvelope($0, epoch: epochs.head.epoch, issuer: "").json },
            next: page.reached, hasMore: page.hasMore)
    }
}
