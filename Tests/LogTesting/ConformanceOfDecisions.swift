internal import EventSourcing
internal import Testing
internal import Values

extension LogConformance {
    func checkConflicts() async throws {
        let stream = newID()
        _ = try await log.append(commit([(stream, 0, 2)]))
        for version in [0, 1, 3, 100] {
            let outcome = try await log.append(commit(stream, at: version))
            #expect(outcome == .conflict, "Version \(version)")
        }
        let tooHigh = try await log.append(commit(newID(), at: 1))
        #expect(tooHigh == .conflict)
        let events = try await all()
        #expect(events.count == 2)
        expectWon(try await log.append(commit(stream, at: 2)), first: 3)
    }

    func checkSeveralStreams() async throws {
        let (one, two, three) = (newID(), newID(), newID())
        _ = try await log.append(commit([(two, 0, 1)]))
        var mixed = commit([(one, 0, 2), (two, 1, 1), (three, 0, 1)])
        // Turn and turn about: the order of events is the commit's, not the streams'.
        mixed.events.swapAt(1, 2)
        expectWon(try await log.append(mixed), first: 2, count: 4)
        let events = try await all()
        #expect(events.map(\.stream) == [two, one, two, one, three])
        #expect(events.map(\.version) == [1, 1, 2, 2, 1])

        let half = try await log.append(commit([(one, 2, 1), (two, 1, 1)]))
        #expect(half == .conflict)
        let untouched = try await log.stream(one, after: 0, in: realm)
        #expect(untouched.count == 2)
    }

    func checkAsserts() async throws {
        let (read, written, never) = (newID(), newID(), newID())
        _ = try await log.append(commit([(read, 0, 1)]))
        expectWon(
            try await log.append(commit([(written, 0, 1)], reads: [read: 1, never: 0])), first: 2)
        let stale = try await log.append(commit([(written, 1, 1)], reads: [read: 0]))
        #expect(stale == .conflict)
        let unborn = try await log.append(commit([(written, 1, 1)], reads: [never: 1]))
        #expect(unborn == .conflict)
        // Having been read did not move it.
        expectWon(try await log.append(commit([(read, 1, 1)])), first: 3)
        let moved = try await log.append(commit([(written, 1, 1)], reads: [read: 1]))
        #expect(moved == .conflict)
    }

    func checkEmptyCommit() async throws {
        let stream = newID()
        _ = try await log.append(commit([(stream, 0, 2)]))
        let command = newID()
        let outcome = try await log.append(commit([], reads: [stream: 2], command: command))
        expectWon(outcome, count: 0)
        if case .won(let positions) = outcome { #expect(positions.last == 2) }
        let head = try await log.head(of: realm)
        #expect(head.position == 2)
        let stale = try await log.append(commit([], reads: [stream: 1]))
        #expect(stale == .conflict)
        _ = try await log.append(commit(stream, at: 2))
        let again = try await log.append(commit([], reads: [stream: 2], command: command))
        guard case .duplicate(let positions) = again else {
            Issue.record("Expected a duplicate, got \(again)")
            return
        }
        #expect(positions.count == 0)
        #expect(positions.last == 2)
    }

    func checkDuplicates() async throws {
        let (stream, command) = (newID(), newID())
        let claim = ClaimChange.take(Claim("name", "one"), for: stream)
        let original = commit([(stream, 0, 2)], claims: [claim], command: command, digest: [1])
        let first = try await log.append(original)
        expectWon(first, first: 1, count: 2)
        _ = try await log.append(commit(stream, at: 2))
        guard case .won(let positions) = first else { return }
        let again = try await log.append(original)
        #expect(again == .duplicate(positions))
        var fresh = original
        fresh.reads = [stream: 3]
        let later = try await log.append(fresh)
        #expect(later == .duplicate(positions))
        let asked = try await log.outcome(of: command, digest: [1], in: realm)
        #expect(asked == .duplicate(positions))
        let events = try await all()
        #expect(events.count == 3)
    }

    func checkMisuse() async throws {
        let (stream, command) = (newID(), newID())
        _ = try await log.append(commit(stream, at: 0, command: command, digest: [1]))
        for digest: [UInt8] in [[2], [], [1, 0]] {
            let outcome = try await log.append(
                commit(stream, at: 1, command: command, digest: digest))
            #expect(outcome == .misused)
            let asked = try await log.outcome(of: command, digest: digest, in: realm)
            #expect(asked == .misused)
        }
        let events = try await all()
        #expect(events.count == 1)
    }

    func checkLosersAreForgotten() async throws {
        let (stream, holder, command) = (newID(), newID(), newID())
        let claim = Claim("name", "one")
        _ = try await log.append(commit(holder, at: 0, claims: [.take(claim, for: holder)]))
        let conflict = try await log.append(commit(stream, at: 5, command: command, digest: [1]))
        #expect(conflict == .conflict)
        let taken = try await log.append(
            commit(stream, at: 0, claims: [.take(claim, for: stream)], command: command))
        #expect(taken == .taken(kind: "name"))
        let asked = try await log.outcome(of: command, digest: [1], in: realm)
        #expect(asked == nil)
        expectWon(
            try await log.append(commit(stream, at: 0, command: command, digest: [2])), first: 2)
    }

    func checkCommandsByRealm() async throws {
        let (stream, command, other) = (newID(), newID(), ConformanceRealm.fresh())
        _ = try await log.append(commit(stream, at: 0, command: command, digest: [1]))
        let asked = try await log.outcome(of: command, digest: [1], in: other)
        #expect(asked == nil)
        expectWon(
            try await log.append(
                commit(stream, at: 0, command: command, digest: [2], in: other)),
            first: 1)
    }
}
