internal import EventSourcing
internal import Testing
internal import Values

extension LogConformance {
    func checkOneWinner() async throws {
        let stream = newID()
        for version in 0..<5 {
            let outcomes = try await together(16) { _ in commit(stream, at: version) }
            let won = outcomes.count { if case .won = $0 { true } else { false } }
            #expect(won == 1)
            #expect(outcomes.count { $0 == .conflict } == 15)
        }
        let events = try await all()
        #expect(events.map(\.version) == [1, 2, 3, 4, 5])
    }

    func checkOneClaimant() async throws {
        let outcomes = try await together(16) { _ in
            let stream = newID()
            return commit(stream, at: 0, claims: [.take(Claim("name", "one"), for: stream)])
        }
        let won = outcomes.count { if case .won = $0 { true } else { false } }
        #expect(won == 1)
        #expect(outcomes.count { $0 == .taken(kind: "name") } == 15)
        let events = try await all()
        #expect(events.count == 1)
    }

    func checkOnceAmongMany() async throws {
        let (stream, command) = (newID(), newID())
        let outcomes = try await together(16) { _ in
            commit([(stream, 0, 3)], command: command, digest: [1])
        }
        let won = outcomes.compactMap { if case .won(let at) = $0 { at } else { nil } }
        let repeated = outcomes.compactMap { if case .duplicate(let at) = $0 { at } else { nil } }
        #expect(won.count == 1)
        #expect(repeated.count == 15)
        #expect(repeated.allSatisfy { $0 == won.first })
        let events = try await all()
        #expect(events.count == 3)
    }

    func checkConcurrentWriters() async throws {
        let streams = (0..<8).map { _ in newID() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for stream in streams {
                group.addTask {
                    for version in 0..<25 {
                        let outcome = try await log.append(commit([(stream, version * 2, 2)]))
                        expectWon(outcome, count: 2)
                    }
                }
            }
            try await group.waitForAll()
        }
        let events = try await all()
        #expect(events.map(\.position) == Array(1...400))
        for stream in streams {
            let own = events.filter { $0.stream == stream }
            #expect(own.map(\.version) == Array(1...50))
        }
        // The events of one commit stand side by side.
        for pair in stride(from: 0, to: events.count - 1, by: 2) {
            #expect(events[pair].command == events[pair + 1].command)
        }
    }

    func checkConcurrentReader() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let stream = newID()
                    for version in 0..<50 { _ = try await log.append(commit(stream, at: version)) }
                }
            }
            group.addTask {
                var next: Int64 = 1
                while next <= 200 {
                    try Task.checkCancellation()
                    let page = try await log.events(from: next, limit: 1_000, in: realm)
                    let expected = Array(next..<next + Int64(page.count))
                    #expect(page.map(\.position) == expected)
                    guard page.map(\.position) == expected else { return }
                    next += Int64(page.count)
                    await Task.yield()
                }
            }
            try await group.waitForAll()
        }
    }

    /// So many commits at once.
    private func together(
        _ count: Int, _ make: @Sendable (Int) -> Commit
    ) async throws -> [AppendOutcome] {
        try await withThrowingTaskGroup(of: AppendOutcome.self) { group in
            for number in 0..<count {
                let commit = make(number)
                group.addTask { try await log.append(commit) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
