import EventSourcing
import LogTesting
import Testing
import Values

/// The clock of a node is an hour behind; what is good until half an hour from now is long over.
@Suite struct `A decision of a node whose clock is behind` {
    let realm = ConformanceRealm.fresh()
    let counter = UUID(high: 1, low: 1)
    let other = UUID(high: 1, low: 2)
    /// What is on record.
    let later = testOrigin.at.adding(seconds: 3600)

    private func id(_ number: UInt64) -> UUID { UUID(high: 8, low: number) }

    private var lateOrigin: Origin { Origin(actor: "system", at: later) }

    private func raise(_ counter: UUID) -> RaiseInTime {
        RaiseInTime(
            counter: counter, until: testOrigin.at.adding(seconds: 1800), now: testOrigin.at)
    }

    private func write(to stream: UUID, _ log: some EventLog) async throws {
        _ = try await log.append(
            Commit(
                realm: realm, command: id(99), origin: lateOrigin, reads: [stream: 0],
                events: [NewEvent(CounterEvent.raised(by: 1), in: stream)]))
    }

    @Test func `a decision behind a slow clock has the time of its realm's last event`()
        async throws
    {
        let log = MemoryLog()
        try await write(to: other, log)
        await #expect(throws: RaiseInTime.Rejection.over(at: later, gatheredAt: later)) {
            try await Dispatcher(log: log).dispatch(
                raise(counter), in: realm, id: id(1), origin: testOrigin)
        }
    }

    @Test func `a decision behind a slow clock has the time of the last event that it reads`()
        async throws
    {
        let log = ForgetfulLog()
        try await write(to: counter, log)
        await #expect(throws: RaiseInTime.Rejection.over(at: later, gatheredAt: later)) {
            try await Dispatcher(log: log).dispatch(
                raise(counter), in: realm, id: id(1), origin: testOrigin)
        }
    }

    @Test func `a decision behind a slow clock has the time of the last event in the cache`()
        async throws
    {
        let dispatcher = Dispatcher(log: ForgetfulLog())
        for number in 1...2 as ClosedRange<UInt64> {
            _ = try await dispatcher.dispatch(
                RaiseCounter(counter: counter), in: realm, id: id(number), origin: lateOrigin)
        }
        await #expect(throws: RaiseInTime.Rejection.over(at: later, gatheredAt: later)) {
            try await dispatcher.dispatch(
                raise(counter), in: realm, id: id(3), origin: testOrigin)
        }
    }

    @Test func `a change behind a slow clock is decided at the time of its realm's last event`()
        async throws
    {
        let log = MemoryLog()
        try await write(to: other, log)
        let change = Change<Versioned<Counter>, RaiseInTime.Rejection>(
            of: counter, at: testOrigin.at
        ) { counter, now throws(RaiseInTime.Rejection) in
            throw .over(at: now, gatheredAt: now.adding(seconds: Int64(counter.version)))
        }
        await #expect(throws: RaiseInTime.Rejection.over(at: later, gatheredAt: later)) {
            try await Dispatcher(log: log).dispatch(
                change, in: realm, id: id(1), origin: testOrigin)
        }
    }

    @Test func `a decision behind a slow clock is recorded with the time at which it was made`()
        async throws
    {
        let log = MemoryLog()
        try await write(to: other, log)
        var command = raise(counter)
        command.until = later.adding(seconds: 1)
        _ = try await Dispatcher(log: log).dispatch(
            command, in: realm, id: id(1), origin: testOrigin)
        let times = try await log.events(from: 1, limit: 10, in: realm).map(\.at)
        #expect(times == [later, later])
    }

    @Test func `a decision behind a slow clock takes no time from another realm`() async throws {
        let log = MemoryLog()
        try await write(to: other, log)
        let elsewhere = ConformanceRealm.fresh()
        _ = try await Dispatcher(log: log).dispatch(
            raise(counter), in: elsewhere, id: id(1), origin: testOrigin)
        #expect(try await log.events(from: 1, limit: 1, in: elsewhere).first?.at == testOrigin.at)
    }
}

/// Raises a counter while there is time for it.
private struct RaiseInTime: TimedCommand {
    var counter: UUID
    var until: Timestamp
    var now: Timestamp

    enum Rejection: Error, Equatable {
        case over(at: Timestamp, gatheredAt: Timestamp)
    }

    func gather(_ streams: some StreamReader) async throws(LogFailure) -> Timestamp {
        _ = try await streams.read(Counter.self, counter)
        return now
    }

    func decide(_ gatheredAt: Timestamp) throws(Rejection) -> Decision {
        guard now < until else { throw .over(at: now, gatheredAt: gatheredAt) }
        return Decision(CounterEvent.raised(by: 1), in: counter)
    }
}

/// A log of which nothing is known but what is read.
private final class ForgetfulLog: EventLog {
    private let log = MemoryLog()

    func append(_ commit: Commit) async throws(LogFailure) -> AppendOutcome {
        try await log.append(commit)
    }

    func outcome(
        of command: UUID, digest: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> AppendOutcome? {
        try await log.outcome(of: command, digest: digest, in: realm)
    }

    func stream(
        _ stream: UUID, after version: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        try await log.stream(stream, after: version, in: realm)
    }

    func events(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        try await log.events(from: position, limit: limit, in: realm)
    }

    func page(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> LogPage {
        try await log.page(from: position, limit: limit, in: realm)
    }

    func head(of realm: RealmID) async throws(LogFailure) -> Head {
        try await log.head(of: realm)
    }

    func latestTime(in realm: RealmID) -> Timestamp? { nil }
}
