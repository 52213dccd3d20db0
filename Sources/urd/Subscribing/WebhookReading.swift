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
    struct Passage: Sendable {
        let page: LogPage
        /// What the index leaves out of it; nil where the index has not come as far.
        let leftOut: Set<Int64>?
    }

    private static let page = 250

    /// Takes in what was read, and reads on where there may be more.
    func advance(
        _ reading: Reading, _ run: inout WebhookRun,
        _ group: inout ThrowingDiscardingTaskGroup<any Error>
    ) throws -> Reading {
        var reading = reading
        switch reading {
        case .isUnderWay:
            let passage = passage.withLock { $0.take() }
            guard let passage else { return .isUnderWay }
            reading = try take(passage, &run)
            if case .waitsForIndex = reading { return reading }
        case .isDone where store.log.hub.head(of: realm) >= run.queue.next: reading = .isBehind
        case .isDone, .isBehind: break
        case .waitsForIndex: reading = .isBehind
        }
        guard reading == .isBehind, run.end == nil, run.queue.hasRoom else { return reading }
        let (next, selection) = (run.queue.next, run.selection)
        group.addTask {
            let result: Result<Passage, any Error>
            do {
                result = .success(try await self.read(from: next, selection))
            } catch {
                result = .failure(error)
            }
            self.passage.withLock { $0 = result }
            self.wake.yield()
        }
        return .isUnderWay
    }

    private func read(
        from first: Int64, _ selection: SubscriptionSelection
    ) async throws -> Passage {
        let page = try await store.log.page(from: first, limit: Self.page, in: realm)
        let leftOut = try await leftOut(of: page.events, selection, epoch: page.head.epoch)
        return Passage(page: page, leftOut: leftOut)
    }

    private func take(
        _ passage: Result<Passage, any Error>, _ run: inout WebhookRun
    ) throws -> Reading {
        let next = run.queue.next
        let read: Passage
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
            guard event.position == run.queue.next, run.end == nil else { break }
            recent.withLock { $0[event.position] = event }
            run.take(event, isLeftOut: leftOut.contains(event.position), now: now)
        }
        if run.end != nil { return .isDone }
        let expected = run.queue.next
        let isWhole = expected - next == Int64(page.events.count)
        if !isWhole || page.events.isEmpty && page.head.position >= next {
            run.finish(.halted("it is missing in the log", position: expected))
            return .isDone
        }
        return page.head.position >= expected ? .isBehind : .isDone
    }
}
