import EventSourcing
import JSON
import LogTesting
import Testing
import Values

@Suite struct `A dispatcher whose log was restored` {
    let realm = ConformanceRealm.fresh()
    let counter = UUID(high: 1, low: 1)

    func raise(_ dispatcher: Dispatcher<ScriptedLog>, _ number: UInt64) async throws -> Dispatched {
        try await dispatcher.dispatch(
            RaiseCounter(counter: counter), in: realm, id: UUID(high: 8, low: number),
            origin: testOrigin)
    }

    @Test func `a dispatcher whose log was restored drops its folded states and decides again`()
        async throws
    {
        let log = ScriptedLog { number, _ throws(LogFailure) in
            if number == 2 { throw .fenced }
            return nil
        }
        let dispatcher = Dispatcher(log: log)
        _ = try await dispatcher.dispatch(
            LookAtCounter(counter: counter), in: realm, id: UUID(high: 8, low: 1),
            origin: testOrigin)
        let done = try await raise(dispatcher, 2)
        #expect(done.positions.first == 1)
        #expect(log.calls.appends == 3)
        #expect(log.calls.streamReads == 2)
    }

    @Test func `a dispatcher that learns of a restored log while reading decides again`()
        async throws
    {
        let log = ScriptedLog(beforeRead: { number, _ throws(LogFailure) in
            if number == 1 { throw .fenced }
        })
        let done = try await raise(Dispatcher(log: log), 1)
        #expect(done.positions.first == 1)
        #expect(log.calls.streamReads == 2)
    }

    @Test func `a dispatcher gives up when restores never end`() async throws {
        let log = ScriptedLog { _, _ throws(LogFailure) in throw .fenced }
        await #expect(throws: LogFailure.contended) { try await raise(Dispatcher(log: log), 1) }
        #expect(log.calls.appends == 4)
    }

    @Test
    func `a command made of a lost tail is refused in the next epoch, before an append and by it`()
        async throws
    {
        for (epoch, appends) in [(2, 0), (1, 1)] {
            let log = ScriptedLog { _, _ throws(LogFailure) in throw .fenced }
            await #expect(throws: LogFailure.fenced) {
                _ = try await Dispatcher(log: log).dispatch(
                    RaiseCounter(counter: counter, epoch: epoch), in: realm,
                    id: UUID(high: 8, low: 1), origin: testOrigin)
            }
            #expect(log.calls.appends == appends)
        }
    }

    @Test(arguments: [LogFailure.busy, .unavailable, .damaged])
    func `a dispatcher passes every other failure of the log on`(failure: LogFailure) async throws {
        let log = ScriptedLog { _, _ throws(LogFailure) in throw failure }
        await #expect(throws: failure) { try await raise(Dispatcher(log: log), 1) }
        #expect(log.calls.appends == 1)
    }

    @Test func `a dispatcher stops at an event that it cannot read`() async throws {
        let log = ScriptedLog()
        _ = try await log.log.append(
            Commit(
                realm: realm, command: UUID(high: 9, low: 9), origin: testOrigin,
                reads: [counter: 0],
                events: [NewEvent(stream: counter, name: "what.is_this", revision: 1, open: [:])]))
        await #expect(throws: LogFailure.damaged) { try await raise(Dispatcher(log: log), 1) }
    }
}
