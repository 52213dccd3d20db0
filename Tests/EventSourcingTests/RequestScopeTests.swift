import EventSourcing
import LogTesting
import Testing
import Values

/// A request whose caller may be told meanwhile that it takes too long.
@Suite struct `A command of a request` {
    private let realm = ConformanceRealm.fresh()
    private let counter = UUID(high: 1, low: 1)

    private func raise(
        _ dispatcher: Dispatcher<ScriptedLog>, _ number: UInt64, in scope: RequestScope
    ) async throws -> Dispatched {
        try await RequestScope.$current.withValue(scope) {
            try await dispatcher.dispatch(
                RaiseCounter(counter: counter), in: realm, id: UUID(high: 8, low: number),
                origin: testOrigin)
        }
    }

    @Test func `a command of a cancelled request is not begun after its read`() async throws {
        let scope = RequestScope()
        let log = ScriptedLog(beforeRead: { _, _ throws(LogFailure) in
            #expect(!scope.leave(), "Nothing is on record, and nothing will be.")
        })
        await #expect(throws: LogFailure.unavailable) {
            try await raise(Dispatcher(log: log), 1, in: scope)
        }
        #expect(log.calls.appends == 0)
        #expect(scope.isGone && !scope.hasAppended)
    }

    @Test func `a command of a request that was cancelled during the append is recorded`()
        async throws
    {
        let scope = RequestScope()
        let log = ScriptedLog(beforeAppend: { _, _ throws(LogFailure) in
            #expect(scope.leave(), "It may be.")
            return nil
        })
        _ = try await raise(Dispatcher(log: log), 1, in: scope)
        #expect(scope.isGone && scope.hasAppended)
    }

    @Test func `a command of a cancelled request is not tried again after a conflict`() async throws
    {
        let (realm, counter, scope) = (realm, counter, RequestScope())
        let log = ScriptedLog { number, log throws(LogFailure) in
            scope.leave()
            try await `The dispatcher`.write(.raised(by: 10), at: 0, to: counter, in: realm, log)
            return nil
        }
        await #expect(throws: LogFailure.unavailable) {
            try await raise(Dispatcher(log: log), 1, in: scope)
        }
        #expect(log.calls.appends == 1)
        #expect(!scope.hasAppended)
    }

    @Test func `a command that follows a recorded one runs although its request was cancelled`()
        async throws
    {
        let scope = RequestScope()
        let log = ScriptedLog()
        let dispatcher = Dispatcher(log: log)
        _ = try await raise(dispatcher, 1, in: scope)
        #expect(scope.leave())
        _ = try await raise(dispatcher, 2, in: scope)
        #expect(log.calls.appends == 2)
    }

    @Test func `a command outside of requests always runs`() async throws {
        let log = ScriptedLog()
        let (realm, counter) = (realm, counter)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Dispatcher(log: log).dispatch(
                RaiseCounter(counter: counter), in: realm, id: UUID(high: 8, low: 1),
                origin: testOrigin)
        }
        _ = try await task.value
        #expect(log.calls.appends == 1)
    }
}
