import API
import EventSourcing
import EventStore
import Identity
import ReadModels
import Synchronization
import Values

/// How the log is read for a subscription: a page ahead of what is delivered.
extension WebhookRunner {
    /// A page of the log from a position on.
    struct PrefetchedPage: Sendable {
        let page: LogPage
        /// Up to where there is nothing else that could be wanted; nil where all that was read is in the page.
        var last: Int64?
        /// What the index leaves out of it; nil where the index has not come as far.
        var leftOut: Set<Int64>?
    }

    private static let page = 250
    /// Where the types are named that matter, so many places are looked at at once.
    private static let span: Int64 = 1000

    /// Takes in the events of a page, and reads the next page where there may be more.
    func advance(
        _ reading: Reading, _ run: inout WebhookRun,
        _ group: inout ThrowingDiscardingTaskGroup<any Error>
    ) throws -> Reading {
        var reading = reading
        switch reading {
        case .isUnderWay:
            let passage = shared.withLock { $0.passage.take() }
            guard let passage else { return .isUnderWay }
            reading = try take(passage, &run)
            if case .waitsForIndex = reading { return reading }
        case .isDone where store.log.hub.head(of: realm) >= run.queue.next: reading = .isBehind
        case .isDone, .isBehind: break
        case .waitsForIndex: reading = .isBehind
        }
        guard reading == .isBehind, run.end == nil, run.queue.hasRoom else { return reading }
        let (next, selection, types) = (run.queue.next, run.selection, run.types)
        group.addTask {
            let result: Result<PrefetchedPage, any Error>
            do {
                result = .success(try await self.read(from: next, selection, types))
            } catch {
                result = .failure(error)
            }
            self.shared.withLock { $0.passage = result }
            self.wake.yield()
        }
        return .isUnderWay
    }

    private func read(
        from first: Int64, _ selection: SubscriptionSelection, _ types: [String]?
    ) async throws -> PrefetchedPage {
        var passage: PrefetchedPage
        if let types,
            let (page, last) = try await store.log.page(
                from: first, span: Self.span, types: types, in: realm)
        {
            passage = PrefetchedPage(page: page, last: last)
        } else {
            // Also where something is missing: then it shows after what.
            passage = PrefetchedPage(
                page: try await store.log.page(from: first, limit: Self.page, in: realm))
        }
        passage.leftOut = try await leftOut(
            of: passage.page.events, selection, epoch: passage.page.head.epoch)
        return passage
    }

    private func take(
        _ passage: Result<PrefetchedPage, any Error>, _ run: inout WebhookRun
    ) throws -> Reading {
        let next = run.queue.next
        let read: PrefetchedPage
        do {
            read = try passage.get()
        } catch LogFailure.damaged {
            run.finish(.halted("the log cannot be read", position: next))
            return .isDone
        }
        let page = read.page
        guard page.head.epoch == run.progress.cursor.epoch else {
            run.finish(.epochChanged)
            return .isDone
        }
        guard let leftOut = read.leftOut else { return .waitsForIndex }
        // It can be found a moment after the epoch began.
        if let kept = page.epochs.loss(since: run.toldOfRewind) {
            run.finish(.rewound(keptTo: kept))
            return .isDone
        }
        let now = store.now(in: realm)
        for event in page.events {
            if read.last != nil { run.queue.pass(through: event.position - 1) }
            guard event.position == run.queue.next, run.end == nil else { break }
            shared.withLock { $0.recent[event.position] = event }
            run.take(event, isLeftOut: leftOut.contains(event.position), now: now)
        }
        if run.end != nil { return .isDone }
        if let last = read.last { run.queue.pass(through: last) }
        let expected = run.queue.next
        let isWhole = read.last != nil || expected - next == Int64(page.events.count)
        if !isWhole || expected == next && page.head.position >= next {
            run.finish(.halted("it is missing in the log", position: expected))
            return .isDone
        }
        return page.head.position >= expected ? .isBehind : .isDone
    }
}
