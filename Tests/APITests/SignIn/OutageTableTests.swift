import EventSourcing
import HTTP
import Synchronization
import Testing
import Values

@testable import API

/// The table in docs/outages.md: whatever a request can use up, and whenever the database stands still.
@Suite struct `Single-use credentials in an outage` {
    /// A request that has not been answered, or was.
    private final class Asked: Sendable {
        private let done = Mutex(false)
        private let task = Mutex<Task<Response, any Error>?>(nil)

        init(_ thing: OnceOnly) {
            task.withLock {
                $0 = Task {
                    defer { done.withLock { $0 = true } }
                    return try await thing.use()
                }
            }
        }

        private var asking: Task<Response, any Error> {
            get throws { try #require(task.withLock { $0 }) }
        }

        /// Waits until the log holds it up. False where it was answered before that.
        func isHeld(by log: WatchedLog) async throws -> Bool {
            while log.waiting == 0 {
                if done.withLock({ $0 }) { return false }
                try await Task.sleep(for: .milliseconds(1))
            }
            return true
        }

        /// What the server does when it tells the caller 503.
        func giveUp() throws { try asking.cancel() }

        func answer() async throws -> Response { try await asking.value }
    }

    private func expectUsed(_ response: Response, _ thing: OnceOnly) async throws {
        let text = String(decoding: response.body, as: UTF8.self)
        #expect((200..<400).contains(response.status.code), "\(response.status): \(text)")
        // And used up it is.
        let again = try await thing.use()
        guard thing.isTold else {
            #expect(again.status == .ok)
            return
        }
        #expect(again.status.code >= 400 || again.headers["Set-Cookie"] == nil, "\(again.status)")
        #expect(again.status != .ok && again.status != .noContent)
    }

    @Test(arguments: SingleUseItem.allCases)
    func `nothing is used up by a 503 before the append, at whatever read it failed`(
        thing: SingleUseItem
    ) async throws {
        for read in 0..<100 {
            let once = try await thing.prepare()
            once.log.hold(fromRead: read)
            let begun = once.log.revision
            let first = Asked(once)
            let isHeld = try await first.isHeld(by: once.log)
            let isOnRecord = once.log.revision != begun
            try first.giveUp()
            once.log.release()
            let answer = try await first.answer()
            if !isHeld {
                #expect(read > 0 || thing.isKnownBefore, "Nothing was read.")
                return
            }
            if !isOnRecord {
                #expect(once.log.revision == begun, "It was begun after 503 had been told.")
                #expect(answer.status.code >= 500, "\(answer.status): nothing is on record.")
            }
            try await expectUsed(try await once.use(), once)
        }
        Issue.record("It reads and reads.")
    }

    @Test(arguments: SingleUseItem.allCases)
    func `nothing is used up by a 503 where the append's outcome is unknown`(
        thing: SingleUseItem
    ) async throws {
        let once = try await thing.prepare()
        once.log.hold()
        let first = Asked(once)
        #expect(try await first.isHeld(by: once.log))
        try first.giveUp()
        once.log.release()
        _ = try await first.answer()
        try await expectUsed(try await once.use(), once)
    }

    @Test(arguments: SingleUseItem.allCases)
    func `nothing is used up by repeats within an outage`(
        thing: SingleUseItem
    ) async throws {
        let once = try await thing.prepare()
        once.log.hold()
        let first = Asked(once)
        #expect(try await first.isHeld(by: once.log))
        try first.giveUp()
        let held = once.log.waiting
        for _ in 0..<3 {
            let repeated = Asked(once)
            await settle()
            try repeated.giveUp()
            // It is told 503 at once, and waits for nothing.
            #expect(try await repeated.answer().status == .serviceUnavailable)
        }
        let last = Asked(once)
        await settle()
        #expect(once.log.waiting == held, "No other request began.")
        once.log.release()
        _ = try await first.answer()
        try await expectUsed(try await last.answer(), once)
    }

    @Test(arguments: SingleUseItem.allCases)
    func `nothing is used up where the log fails between the append and the answer`(
        thing: SingleUseItem
    ) async throws {
        let once = try await thing.prepare()
        once.log.failReads(3)
        try await expectUsed(try await once.use(), once)
    }

    @Test(arguments: SingleUseItem.allCases)
    func `nothing is used up by one read that fails, whichever it is and whenever it was begun`(
        thing: SingleUseItem
    ) async throws {
        for read in 0..<100 {
            let once = try await thing.prepare()
            once.log.failRead(read)
            var answer: Response
            do {
                answer = try await once.use()
            } catch LogFailure.unavailable {
                // The test's own look at the log, behind all that the request reads.
                return
            }
            if once.log.isReadToFail {
                #expect(read > 0 || thing.isKnownBefore, "Nothing was read.")
                return
            }
            // It failed before the record, and 503 was told: the same request is good.
            if answer.status == .serviceUnavailable { answer = try await once.use() }
            try await expectUsed(answer, once)
        }
        Issue.record("It reads and reads.")
    }

    /// Lets what was begun come to where it waits.
    private func settle() async {
        for _ in 0..<500 { await Task.yield() }
    }
}
