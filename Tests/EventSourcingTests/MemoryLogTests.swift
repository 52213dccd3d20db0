import EventSourcing
import JSON
import LogTesting
import Testing
import Values

@Suite struct `The log in memory` {
    @Test(arguments: LogPromise.allCases)
    func `the log in memory keeps every promise of a log`(promise: LogPromise) async throws {
        try await LogConformance(MemoryLog()).check(promise)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `the log in memory answers the same commands in the same way`(seed: UInt64) async throws {
        try await RandomCommands.compare(MemoryLog(), MemoryLog(), seed: seed, count: 2_000)
    }

    @Test func `the log in memory would fail its tests if it broke a promise`() async throws {
        let difference = try await RandomCommands.difference(
            MemoryLog(), ForgetfulLog(), seed: 5, count: 500)
        #expect(difference != nil)
    }

    @Test func `the log in memory erases personal fields and keeps the rest`() async throws {
        let log = MemoryLog()
        let realm = ConformanceRealm.fresh()
        let (stream, subject) = (UUID(high: 1, low: 1), UUID(high: 2, low: 2))
        let event = NewEvent(
            stream: stream, name: "thing.done", revision: 1, subject: subject,
            open: ["number": 1], personal: ["mail": "someone@example.org"])
        _ = try await log.append(
            Commit(
                realm: realm, command: UUID(high: 3, low: 3), origin: testOrigin,
                reads: [stream: 0], events: [event]))
        log.erase(subject, in: realm)
        let events = try await log.events(from: 1, limit: 10, in: realm)
        #expect(events.map(\.personal) == [.erased])
        #expect(events.map(\.open) == [["number": 1]])
    }
}

/// Lets a claim be taken twice, now and then.
private struct ForgetfulLog: EventLog {
    let log = MemoryLog()

    func append(_ commit: Commit) async throws(LogFailure) -> AppendOutcome {
        var commit = commit
        if commit.command.low.isMultiple(of: 8) { commit.claims = [] }
        return try await log.append(commit)
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

    func latestTime(in realm: RealmID) -> Timestamp? { log.latestTime(in: realm) }
}
