internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Telemetry

/// What one follower is sent, from where it begins until it or the server hangs up.
///
/// A thousand of them are silent most of the time, and each keeps the frames of the functions that it is in:
/// what is not needed to wait is not inlined there.
struct FeedStream: Sendable {
    /// Seconds without an event after which the feed sends a heartbeat.
    static let silence: UInt64 = 15
    /// How long events are left out without a word of it.
    static let unspokenSeconds: UInt64 = 5
    static let unspokenEvents: Int64 = 1000
    private static let atOnce = 128
    private static let page = 500
    /// Of one that opens personal fields, for there is a record of each page.
    private static let personalPage = StandingDisclosure.most
    /// Frames that are written together.
    static let piece = 16 * 1024

    let place: FeedPlace
    let following: EventFollowing
    let filter: EventFilter
    let form: FeedForm
    /// Where the feed shows that nothing is withheld.
    let proof: FeedProof?
    let start: LogCursor
    let head: Int64
    /// Where the reader's cursor is kept.
    var lease: FeedLease?
    /// Where the index says what is sent.
    var subjects: EventSubjects?
    /// Where personal fields are opened for the reader.
    var personal: FeedPersonal?
    /// When the token that lets the reader in expires.
    var expiry: FeedExpiry?

    /// Where the follower is, and when it was last told.
    struct Progress {
        var cursor: LogCursor
        /// The last cursor that the reader was sent.
        var told: Int64
        var spokeAt: UInt64
        /// Of the events behind `told`, where the feed shows them all.
        var leaves: [LeafHash] = []
        /// The size of the last checkpoint that it was shown.
        var proven: Int64 = 0
        /// The time of the last look for a newer checkpoint.
        var askedAt: UInt64 = .max
        /// The next page, where the follower is behind by more than one.
        var ahead: PageAhead?
        /// Whose personal data is to be sent and is not on record yet.
        var disclosure: StandingDisclosure?
    }

    /// A page that was read while the one before it was sent.
    struct PageAhead {
        let start: LogCursor
        /// The same place in the epoch that the page was read in.
        let cursor: LogCursor
        let page: EventRing.Page
    }

    func run(_ writer: BodyStream.Writer) async throws {
        do {
            try await follow(writer)
        } catch {
            await lease?.release()
            throw error
        }
        await lease?.release()
    }

    private func follow(_ writer: BodyStream.Writer) async throws {
        var progress = Progress(cursor: start, told: start.position, spokeAt: following.ticks)
        try await writer.write(form.opening(at: start, head: head))
        while !Task.isCancelled {
            let alarms = following.alarms
            if try await isOver(writer) { return }
            switch following.look(after: &progress.cursor, limit: Self.atOnce) {
            case .events(let events, let block) where personal == nil:
                try await take(events, block, &progress, writer)
            case .nothing: try await wait(&progress, since: alarms, writer)
            // What others are sent as well has no personal fields.
            case .events, .behind:
                guard try await sendPage(&progress, since: alarms, writer) else { return }
            case .lost(let kept):
                return try await endLost(keptTo: kept, progress.cursor.epoch, writer)
            case .failed(let failure): return try await end(failure, writer)
            }
        }
    }

    /// Whether the reader's key, token or lease has ended. The reader is told.
    @inline(never)
    private func isOver(_ writer: BodyStream.Writer) async throws -> Bool {
        switch place.standing {
        case .good: break
        case .revoked:
            try await end(Problem(.unauthenticated), writer)
            return true
        case .unknown:
            try await end(Problem(.unavailable), writer)
            return true
        }
        if let expiry, expiry.isOver {
            try await end(Problem(.invalidToken, "The token has expired."), writer)
            return true
        }
        guard let lease, lease.standing == .lost else { return false }
        try await leave(lease, writer)
        return true
    }

    @inline(never)
    private func take(
        _ events: [RecentEvent], _ block: RecentBlock?, _ progress: inout Progress,
        _ writer: BodyStream.Writer
    ) async throws {
        guard let last = events.last?.cursor else { return }
        if let block, proof == nil, subjects == nil {
            return try await send(block, last, &progress, writer)
        }
        let recorded = events.map(\.event)
        guard let selection = try await select(recorded, &progress, last.epoch, writer),
            try await isPermitted(recorded, selection, through: last)
        else { return }
        if let proof {
            try await send(recorded, selection, proof, &progress, writer)
        } else {
            try await send(events, selection, &progress, writer)
        }
    }

    // MARK: - Events

    /// What of the events is sent, once that is known; nil where it is not yet.
    @inline(never)
    private func select(
        _ events: [Recorded], _ progress: inout Progress, _ epoch: Int,
        _ writer: BodyStream.Writer
    ) async throws -> FeedSelection? {
        var selection = FeedSelection(filter: filter)
        if let subjects {
            guard
                let found = try await subjects.positions(
                    of: events.filter { filter.wants($0) }, epoch: epoch,
                    within: .seconds(1))
            else {
                try await beat(&progress, writer)
                return nil
            }
            selection.positions = found
        }
        return selection
    }

    private func isPermitted(
        _ events: [Recorded], _ selection: FeedSelection, through cursor: LogCursor
    ) async throws -> Bool {
        guard lease != nil, proof != nil || events.contains(where: selection.wants) else {
            return true
        }
        return try await isPermitted(through: cursor)
    }

    /// False where the reader has lost its lease, or that is unknown.
    @inline(never)
    private func isPermitted(through cursor: LogCursor) async throws -> Bool {
        guard let lease else { return true }
        do throws(LogFailure) {
            return try await lease.permit(through: cursor)
        } catch {
            // Nothing is lost: it is asked again.
            try await Task.sleep(for: .milliseconds(250))
            return false
        }
    }

    @inline(never)
    private func send(
        _ events: [RecentEvent], _ selection: FeedSelection, _ progress: inout Progress,
        _ writer: BodyStream.Writer
    ) async throws {
        let key = form.key
        var out: [UInt8] = []
        var count = 0
        for recent in events {
            progress.cursor = recent.cursor
            guard selection.wants(recent.event) else { continue }
            let bytes = recent.bytes(in: key, form.event)
            count += 1
            progress.told = recent.cursor.position
            // Alone it is shared with all who are sent it.
            if out.isEmpty { out = bytes } else { out += bytes }
            if out.count >= Self.piece {
                try await write(out, events: count, &progress, writer)
                (out, count) = ([], 0)
            }
        }
        if count > 0 { try await write(out, events: count, &progress, writer) }
        try await tellProgress(&progress, writer)
    }

    /// All that its filter wants of a block: one array, shared with all who are sent the same.
    @inline(never)
    private func send(
        _ block: RecentBlock, _ last: LogCursor, _ progress: inout Progress,
        _ writer: BodyStream.Writer
    ) async throws {
        let frames = following.frames(of: block, in: form.key, form.event)
        if let told = frames.last {
            guard try await isPermitted(through: last) else { return }
            progress.told = told
            try await write(frames.bytes, events: frames.count, &progress, writer)
        }
        progress.cursor = last
        try await tellProgress(&progress, writer)
    }

    private func write(
        _ bytes: [UInt8], events: Int, _ progress: inout Progress, _ writer: BodyStream.Writer
    ) async throws {
        place.feeds.sent.add(events)
        try await say(bytes, &progress, writer)
    }

    /// Time counts from before a reader has it: the next fifteen seconds may have begun when it does.
    func say(
        _ bytes: [UInt8], _ progress: inout Progress, _ writer: BodyStream.Writer
    ) async throws {
        progress.spokeAt = following.ticks
        try await writer.write(bytes)
    }

    /// False where the feed is over.
    @inline(never)
    private func sendPage(
        _ progress: inout Progress, since alarms: UInt64, _ writer: BodyStream.Writer
    ) async throws -> Bool {
        let read: EventRing.Page?
        do {
            read = try await nextPage(&progress)
        } catch {
            if error.isLasting {
                try await end(Problem(of: error), writer)
                return false
            }
            // Nothing is lost: it is read as soon as it can be.
            try await Task.sleep(for: .milliseconds(250))
            return true
        }
        switch read {
        case nil: return false
        case .lost(let kept):
            try await endLost(keptTo: kept, progress.cursor.epoch, writer)
            return false
        case .failed(let failure):
            try await end(failure, writer)
            return false
        case .events(var events, let head):
            guard !events.isEmpty else {
                try await wait(&progress, since: alarms, writer)
                return true
            }
            let isFull = events.count == pageSize
            guard let selection = try await select(events, &progress, head.epoch, writer) else {
                return true
            }
            if let personal {
                events = try await disclosed(
                    events, selection, isFull, personal, &progress, writer)
            }
            guard let last = events.last else { return true }
            let end = LogCursor(epoch: head.epoch, position: last.position)
            guard try await isPermitted(events, selection, through: end) else { return true }
            if let proof {
                try await send(events, selection, proof, &progress, writer)
                return true
            }
            async let ahead = isFull ? readAhead(from: end) : nil
            let (pieces, told, count) = await pieces(of: events, selection, epoch: head.epoch)
            for piece in pieces { try await say(piece, &progress, writer) }
            progress.cursor = end
            progress.ahead = await ahead
            if let told {
                progress.told = told
                place.feeds.sent.add(count)
            }
            try await tellProgress(&progress, writer)
            return true
        }
    }

    private var pageSize: Int { personal == nil ? Self.page : Self.personalPage }

    private func nextPage(
        _ progress: inout Progress
    ) async throws(LogFailure) -> EventRing.Page? {
        let ahead = progress.ahead
        progress.ahead = nil
        if let ahead, ahead.start == progress.cursor {
            progress.cursor = ahead.cursor
            return ahead.page
        }
        return try await following.page(after: &progress.cursor, limit: pageSize)
    }

    /// Nil where the page cannot be read now: then it is read in its turn.
    private func readAhead(from start: LogCursor) async -> PageAhead? {
        var cursor = start
        guard let page = try? await following.page(after: &cursor, limit: pageSize) else {
            return nil
        }
        return PageAhead(start: start, cursor: cursor, page: page)
    }

    /// A page takes its time: others of the connection's thread go on meanwhile.
    private func pieces(
        of events: [Recorded], _ selection: FeedSelection, epoch: Int
    ) async -> (pieces: [[UInt8]], told: Int64?, count: Int) {
        await withTaskExecutorPreference(globalConcurrentExecutor) {
            var pieces: [[UInt8]] = [[]]
            var told: Int64?
            var count = 0
            for event in events where selection.wants(event) {
                let cursor = LogCursor(epoch: epoch, position: event.position)
                if let last = pieces.last, last.count >= Self.piece { pieces.append([]) }
                pieces[pieces.count - 1] += form.event(event, at: cursor)
                told = event.position
                count += 1
            }
            return (told == nil ? [] : pieces, told, count)
        }
    }

    // MARK: - Silence

    private func wait(
        _ progress: inout Progress, since alarms: UInt64, _ writer: BodyStream.Writer
    ) async throws {
        let isUntold = progress.cursor.position > progress.told
        var due = progress.spokeAt + (isUntold ? Self.unspokenSeconds : Self.silence)
        if proof != nil, progress.proven < progress.cursor.position {
            due = min(due, following.ticks + 1)
        }
        if let expiry { due = min(due, following.ticks + expiry.seconds) }
        let reached = await following.wait(
            past: progress.cursor, since: alarms, until: due,
            ifPassed: progress.spokeAt + Self.unspokenSeconds)
        guard !Task.isCancelled else { return }
        if reached > progress.cursor.position {
            progress.cursor = LogCursor(epoch: progress.cursor.epoch, position: reached)
        }
        try await tellProgress(&progress, writer)
        if let proof { try await tellCheckpoint(proof, &progress, writer) }
        try await beat(&progress, writer)
    }

    /// Says that the feed is there, where nothing was said for long.
    @inline(never)
    func beat(_ progress: inout Progress, _ writer: BodyStream.Writer) async throws {
        guard following.ticks >= progress.spokeAt + Self.silence else { return }
        try await say(form.heartbeat, &progress, writer)
    }

    /// Says how far the feed is, where much was left out or for long.
    @inline(never)
    private func tellProgress(
        _ progress: inout Progress, _ writer: BodyStream.Writer
    ) async throws {
        let untold = progress.cursor.position - progress.told
        guard
            untold >= Self.unspokenEvents
                || untold > 0 && following.ticks >= progress.spokeAt + Self.unspokenSeconds
        else { return }
        guard try await isPermitted(through: progress.cursor) else { return }
        guard proof == nil else { return try await tellLeaves(&progress, writer) }
        try await say(
            form.progress(at: progress.cursor, head: following.last), &progress, writer)
        progress.told = progress.cursor.position
    }
}
