import EventSourcing
import LogTesting
import Testing
import Values

@Suite struct `The dispatcher` {
    let realm = ConformanceRealm.fresh()
    let counter = UUID(high: 1, low: 1)

    func id(_ number: UInt64) -> UUID { UUID(high: 8, low: number) }

    /// Somebody else writes to the counter, past the dispatcher.
    static func write(
        _ event: CounterEvent, at version: Int, to counter: UUID, in realm: RealmID,
        _ log: MemoryLog
    ) async throws(LogFailure) {
        _ = try await log.append(
            Commit(
                realm: realm, command: UUID(high: 66, low: UInt64(version)), origin: testOrigin,
                reads: [counter: version], events: [NewEvent(event, in: counter)]))
    }

    @Test func `the dispatcher appends what a command decides`() async throws {
        let dispatcher = Dispatcher(log: ScriptedLog())
        let first = try await dispatcher.dispatch(
            RaiseCounter(counter: counter), in: realm, id: id(1), origin: testOrigin)
        let second = try await dispatcher.dispatch(
            RaiseCounter(counter: counter), in: realm, id: id(2), origin: testOrigin)
        #expect(first.positions.first == 1 && first.positions.count == 1 && !first.isRepeat)
        #expect(second.positions.first == 2)
        let state = try await dispatcher.state(Counter.self, counter, in: realm)
        #expect(state.version == 2)
        #expect(state.state.total == 2)
        let earlier = try await dispatcher.state(Counter.self, counter, in: realm, upTo: 1)
        #expect(earlier.version == 1)
        #expect(earlier.state.total == 1)
    }

    @Test func `the dispatcher returns a rejection and appends nothing`() async throws {
        let log = ScriptedLog()
        let dispatcher = Dispatcher(log: log)
        await #expect(throws: RaiseCounter.Rejection.full) {
            try await dispatcher.dispatch(
                RaiseCounter(counter: counter, limit: 0), in: realm, id: id(1), origin: testOrigin)
        }
        #expect(log.calls.appends == 0)
    }

    @Test func `a change is refused by what it says of the kind of claim that is taken`() {
        let change = Change<Versioned<Counter>, RaiseCounter.Rejection>(
            of: counter, whenTaken: .full, byKind: ["closing": .closed]
        ) { _ in Decision() }
        #expect(change.rejection(takenClaim: "closing") == .closed)
        #expect(change.rejection(takenClaim: "raising") == .full)
    }

    @Test func `the dispatcher checks the realm before a command decides`() async throws {
        let log = ScriptedLog()
        let dispatcher = Dispatcher(log: log)
        await #expect(throws: RealmRejection.realmDisabled) {
            try await dispatcher.dispatch(
                RaiseInClosedRealm(counter: counter), in: realm, id: id(1), origin: testOrigin)
        }
        await #expect(throws: RealmRejection.realmDisabled) {
            try await dispatcher.ask(
                RaiseInClosedRealm(counter: counter), in: realm, id: id(2), origin: testOrigin)
        }
        #expect(log.calls.appends == 0)
    }

    @Test func `the dispatcher decides again after a conflict`() async throws {
        let (realm, counter) = (realm, counter)
        let log = ScriptedLog { number, log throws(LogFailure) in
            if number == 1 {
                try await Self.write(.raised(by: 10), at: 0, to: counter, in: realm, log)
            }
            return nil
        }
        let dispatcher = Dispatcher(log: log)
        let done = try await dispatcher.dispatch(
            RaiseCounter(counter: counter), in: realm, id: id(1), origin: testOrigin)
        #expect(done.positions.first == 2)
        #expect(log.calls.appends == 2)
        let state = try await dispatcher.state(Counter.self, counter, in: realm)
        #expect(state.state.total == 11)
    }

    @Test func `the dispatcher pays one retry for a stale cache`() async throws {
        let log = ScriptedLog()
        let dispatcher = Dispatcher(log: log)
        _ = try await dispatcher.dispatch(
            LookAtCounter(counter: counter), in: realm, id: id(1), origin: testOrigin)
        try await Self.write(.raised(by: 10), at: 0, to: counter, in: realm, log.log)
        let before = log.calls
        _ = try await dispatcher.dispatch(
            RaiseCounter(counter: counter), in: realm, id: id(2), origin: testOrigin)
        #expect(log.calls.appends == before.appends + 2)
        // One to find what has moved, and one to read it behind whoever moved it.
        #expect(log.calls.streamReads == before.streamReads + 2)
    }

    @Test func `the dispatcher takes a generated id for new, unless the log knows better`()
        async throws
    {
        let log = ScriptedLog()
        let dispatcher = Dispatcher(log: log)
        _ = try await dispatcher.dispatch(
            BeginCounter(counter: counter), in: realm, id: id(1), origin: testOrigin)
        #expect(log.calls.streamReads == 0)
        // What was appended is known from then on.
        _ = try await dispatcher.dispatch(
            RaiseCounter(counter: counter), in: realm, id: id(2), origin: testOrigin)
        #expect(log.calls.streamReads == 0)
        // Somebody made up the same name.
        let other = UUID(high: 1, low: 7)
        try await Self.write(.raised(by: 10), at: 0, to: other, in: realm, log.log)
        await #expect(throws: BeginCounter.Rejection.exists) {
            try await dispatcher.dispatch(
                BeginCounter(counter: other), in: realm, id: id(3), origin: testOrigin)
        }
        #expect(log.calls.streamReads == 2)
    }

    @Test func `the dispatcher does not decide on a stream that moved while it was read`()
        async throws
    {
        let (realm, counter) = (realm, counter)
        let log = ScriptedLog(beforeRead: { number, log throws(LogFailure) in
            if number == 6 {
                try await Self.write(.raised(by: 10), at: 0, to: counter, in: realm, log)
            }
        })
        // So small that the first look is forgotten when the second comes.
        let dispatcher = Dispatcher(log: log, cachedStreams: 2)
        let others = (2...5).map { UUID(high: 1, low: $0) }
        _ = try await dispatcher.dispatch(
            LookTwice(counter: counter, others: others), in: realm, id: id(1), origin: testOrigin)
        let state = try await dispatcher.state(Counter.self, counter, in: realm)
        #expect(state.state.total == 11)
        #expect(log.calls.appends == 2)
    }

    @Test func `the dispatcher reads a stream once while nothing changes it`() async throws {
        let log = ScriptedLog()
        let dispatcher = Dispatcher(log: log)
        for number in 1...5 {
            _ = try await dispatcher.dispatch(
                LookAtCounter(counter: counter), in: realm, id: id(UInt64(number)),
                origin: testOrigin)
        }
        #expect(log.calls.streamReads == 1)
    }

    @Test func `the dispatcher gives up after losing too many conflicts`() async throws {
        let (realm, counter) = (realm, counter)
        let log = ScriptedLog { number, log throws(LogFailure) in
            try await Self.write(.raised(by: 1), at: number - 1, to: counter, in: realm, log)
            return nil
        }
        let dispatcher = Dispatcher(log: log)
        await #expect(throws: LogFailure.contended) {
            try await dispatcher.dispatch(
                RaiseCounter(counter: counter), in: realm, id: id(1), origin: testOrigin)
        }
        #expect(log.calls.appends == 4)
    }

    @Test func `the dispatcher gives each of many writers of one stream its turn`() async throws {
        let (realm, counter) = (realm, counter)
        let dispatcher = Dispatcher(log: MemoryLog())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...64 {
                group.addTask {
                    _ = try await dispatcher.dispatch(
                        RaiseCounter(counter: counter), in: realm, id: id(UInt64(number)),
                        origin: testOrigin)
                }
            }
            try await group.waitForAll()
        }
        let reached = try await dispatcher.state(Counter.self, counter, in: realm)
        #expect(reached.version == 64)
    }

    /// Each append waits until the other tasks had their chance to read: then all but one of those that
    /// want the same stream lose.
    static let yielding: ScriptedLog.Script = { _, _ throws(LogFailure) in
        for _ in 0..<40 { await Task.yield() }
        return nil
    }

    @Test
    func `the dispatcher gives commands with a fresh stream first their turn at a contended one`()
        async throws
    {
        let (realm, counter) = (realm, counter)
        let dispatcher = Dispatcher(log: ScriptedLog(beforeAppend: Self.yielding))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...64 {
                group.addTask {
                    _ = try await dispatcher.dispatch(
                        BeginAndRaise(fresh: UUID(high: 2, low: UInt64(number)), counter: counter),
                        in: realm, id: id(UInt64(number)), origin: testOrigin)
                }
            }
            try await group.waitForAll()
        }
        let reached = try await dispatcher.state(Counter.self, counter, in: realm)
        #expect(reached.version == 64)
    }

    @Test func `the dispatcher gives readers of a contended stream their turn among its writers`()
        async throws
    {
        let (realm, counter) = (realm, counter)
        let dispatcher = Dispatcher(log: ScriptedLog(beforeAppend: Self.yielding))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...96 {
                group.addTask {
                    let id = id(UInt64(number))
                    if number % 3 == 0 {
                        _ = try await dispatcher.dispatch(
                            BeginBeside(
                                fresh: UUID(high: 2, low: UInt64(number)), counter: counter),
                            in: realm, id: id, origin: testOrigin)
                    } else {
                        _ = try await dispatcher.dispatch(
                            RaiseCounter(counter: counter), in: realm, id: id,
                            origin: testOrigin)
                    }
                }
            }
            try await group.waitForAll()
        }
        let reached = try await dispatcher.state(Counter.self, counter, in: realm)
        #expect(reached.version == 64)
    }

    @Test func `the dispatcher returns the first outcome for a repeated command`() async throws {
        let dispatcher = Dispatcher(log: ScriptedLog())
        let first = try await dispatcher.dispatch(
            RaiseCounter(counter: counter), in: realm, id: id(1), digest: [1], origin: testOrigin)
        let again = try await dispatcher.dispatch(
            RaiseCounter(counter: counter), in: realm, id: id(1), digest: [1], origin: testOrigin)
        #expect(again.isRepeat)
        #expect(again.positions == first.positions)
        await #expect(throws: LogFailure.misusedCommand) {
            try await dispatcher.dispatch(
                RaiseCounter(counter: counter), in: realm, id: id(1), digest: [2],
                origin: testOrigin)
        }
    }

    @Test
    func `a first outcome that refuses its repeat is told behind a commit that got through`()
        async throws
    {
        let log = ScriptedLog { number, _ throws(LogFailure) in
            if number == 2 { throw .unavailable }
            return nil
        }
        let dispatcher = Dispatcher(log: log)
        let close = CloseCounter(counter: counter)
        let first = try await dispatcher.dispatch(
            close, in: realm, id: id(1), digest: [1], origin: testOrigin)
        await #expect(throws: LogFailure.unavailable) {
            try await dispatcher.dispatch(
                close, in: realm, id: id(1), digest: [1], origin: testOrigin)
        }
        for appends in 3...4 {
            let again = try await dispatcher.dispatch(
                close, in: realm, id: id(1), digest: [1], origin: testOrigin)
            #expect(again.positions == first.positions)
            #expect(log.calls.appends == appends)
        }
    }

    @Test
    func `the dispatcher returns the first outcome also where its effect would now refuse it`()
        async throws
    {
        let dispatcher = Dispatcher(log: ScriptedLog())
        let first = try await dispatcher.dispatch(
            CloseCounter(counter: counter), in: realm, id: id(1), digest: [1], origin: testOrigin)
        let again = try await dispatcher.dispatch(
            CloseCounter(counter: counter), in: realm, id: id(1), digest: [1], origin: testOrigin)
        #expect(again.isRepeat)
        #expect(again.positions == first.positions)
        await #expect(throws: LogFailure.misusedCommand) {
            try await dispatcher.dispatch(
                CloseCounter(counter: counter), in: realm, id: id(1), digest: [2],
                origin: testOrigin)
        }
        await #expect(throws: CloseCounter.Rejection.alreadyClosed) {
            try await dispatcher.dispatch(
                CloseCounter(counter: counter), in: realm, id: id(2), origin: testOrigin)
        }
    }

    @Test func `the dispatcher checks a rejection that came from a stale cache`() async throws {
        let log = ScriptedLog()
        let dispatcher = Dispatcher(log: log)
        try await Self.write(.raised(by: 10), at: 0, to: counter, in: realm, log.log)
        _ = try await dispatcher.dispatch(
            LookAtCounter(counter: counter), in: realm, id: id(1), origin: testOrigin)
        try await Self.write(.raised(by: -10), at: 1, to: counter, in: realm, log.log)
        let done = try await dispatcher.dispatch(
            RaiseCounter(counter: counter, limit: 5), in: realm, id: id(2), origin: testOrigin)
        #expect(done.positions.first == 3)
    }

    @Test func `the dispatcher returns a rejection from a cache that is still current`()
        async throws
    {
        let log = ScriptedLog()
        let dispatcher = Dispatcher(log: log)
        try await Self.write(.closed, at: 0, to: counter, in: realm, log.log)
        for number in 1...2 {
            await #expect(throws: RaiseCounter.Rejection.closed) {
                try await dispatcher.dispatch(
                    RaiseCounter(counter: counter), in: realm, id: id(UInt64(number)),
                    origin: testOrigin)
            }
        }
        #expect(log.calls.appends == 0)
    }

    @Test func `the dispatcher turns a taken claim into the command's own rejection`() async throws
    {
        let dispatcher = Dispatcher(log: ScriptedLog())
        let claim = Claim("name", "one")
        _ = try await dispatcher.dispatch(
            RaiseCounter(counter: counter, claim: claim), in: realm, id: id(1), origin: testOrigin)
        await #expect(throws: RaiseCounter.Rejection.taken("name")) {
            try await dispatcher.dispatch(
                RaiseCounter(counter: UUID(high: 1, low: 2), claim: claim), in: realm, id: id(2),
                origin: testOrigin)
        }
    }
}

/// A command that would raise a counter, in a realm that is disabled.
private struct RaiseInClosedRealm: AnsweringCommand {
    typealias Facts = Versioned<Counter>
    typealias Rejection = Never
    typealias Outcome = Void

    let counter: UUID

    func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        try await streams.read(Counter.self, counter)
    }

    func requireRealm(_ facts: Facts) throws(RealmRejection) { throw .realmDisabled }

    func settle(_ facts: Facts) -> SettledDecision<Void> {
        SettledDecision(Decision(CounterEvent.raised(by: 1), in: counter), ())
    }
}
