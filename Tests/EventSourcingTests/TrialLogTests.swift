import EventSourcing
import JSON
import LogTesting
import Testing
import Values

@Suite struct `A trial of a log` {
    private let realm = ConformanceRealm.fresh()
    private let stream = UUID(high: 1, low: 1)

    private func commit(
        _ number: UInt64, version: Int, in stream: UUID, claims: [ClaimChange] = []
    ) -> Commit {
        Commit(
            realm: realm, command: UUID(high: 9, low: number), origin: testOrigin,
            reads: [stream: version],
            events: [
                NewEvent(
                    stream: stream, name: "thing.done", revision: 1,
                    open: ["number": .integer(Int64(number))])
            ], claims: claims)
    }

    @Test func `what is appended to a trial is seen in it, and not in the log below`() async throws
    {
        let log = MemoryLog()
        _ = try await log.append(commit(1, version: 0, in: stream))
        let trial = TrialLog(over: log)
        let found = try await trial.stream(stream, after: 0, in: realm)
        #expect(found.map(\.version) == [1])
        let outcome = try await trial.append(commit(2, version: 1, in: stream))
        guard case .won = outcome else {
            Issue.record("It was refused.")
            return
        }
        let seen = try await trial.stream(stream, after: 0, in: realm)
        #expect(seen.map(\.version) == [1, 2])
        #expect(seen.map { $0.open["number"] } == [1, 2])
        #expect(try await log.stream(stream, after: 0, in: realm).count == 1)
    }

    @Test func `a trial refuses a version that is not the one of its stream`() async throws {
        let trial = TrialLog(over: MemoryLog())
        _ = try await trial.stream(stream, after: 0, in: realm)
        #expect(try await trial.append(commit(1, version: 1, in: stream)) == .conflict)
    }

    @Test func `a claim is taken once in a trial, and again when it was released`() async throws {
        let trial = TrialLog(over: MemoryLog())
        let claim = Claim("name", "ann")
        let (other, third) = (UUID(high: 1, low: 2), UUID(high: 1, low: 3))
        _ = try await trial.append(
            commit(1, version: 0, in: stream, claims: [.take(claim, for: stream)]))
        let second = commit(2, version: 0, in: other, claims: [.take(claim, for: other)])
        #expect(try await trial.append(second) == .taken(kind: "name"))
        _ = try await trial.append(
            commit(3, version: 1, in: stream, claims: [.release(claim, by: stream)]))
        let outcome = try await trial.append(
            commit(4, version: 0, in: third, claims: [.take(claim, for: third)]))
        guard case .won = outcome else {
            Issue.record("It was refused.")
            return
        }
        // One commit cannot say that a name changed hands.
        #expect(Commit.joined(trial.commits, command: .zero, origin: testOrigin) == nil)
    }

    @Test func `commits of a trial are appended as one, at the versions at which they began`()
        async throws
    {
        let log = MemoryLog()
        _ = try await log.append(commit(1, version: 0, in: stream))
        let trial = TrialLog(over: log)
        _ = try await trial.stream(stream, after: 0, in: realm)
        for number in 2...4 as ClosedRange<UInt64> {
            _ = try await trial.append(commit(number, version: Int(number) - 1, in: stream))
        }
        let joined = try #require(
            Commit.joined(trial.commits, command: UUID(high: 9, low: 99), origin: testOrigin))
        #expect(joined.reads == [stream: 1])
        guard case .won(let positions) = try await log.append(joined) else {
            Issue.record("It was refused.")
            return
        }
        #expect(positions.count == 3)
        // The same again: what it relied on has moved on.
        let again = try #require(
            Commit.joined(trial.commits, command: UUID(high: 9, low: 98), origin: testOrigin))
        #expect(try await log.append(again) == .conflict)
    }
}
