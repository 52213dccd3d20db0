import EventSourcing
import EventStore
import PostgresTesting
import Testing
import Values

@Suite struct `Writers that meet in one realm` {
    private struct Schedule: CustomStringConvertible {
        /// In which order they begin, and so get the lock.
        let order: [Int]
        let commits: [Bool]

        static let all: [Schedule] = {
            let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
            return orders.flatMap { order in
                (0..<8).map { bits in
                    Schedule(order: order, commits: (0..<3).map { bits & (1 << $0) != 0 })
                }
            }
        }()

        var description: String { "\(order) \(commits)" }
    }

    @Test(arguments: [false, true])
    func `concurrent writers are seen in the order of their commits in every interleaving`(
        meetInOneStream: Bool
    ) async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let watcher = try await Session(store.database.superuser)
        var writers: [Session] = []
        for _ in 0..<3 { writers.append(try await Session(store.database.application)) }
        for schedule in Schedule.all {
            try await play(schedule, writers, watcher, store.log, meetInOneStream)
        }
    }

    private func play(
        _ schedule: Schedule, _ writers: [Session], _ watcher: Session, _ log: PostgresLog,
        _ meetInOneStream: Bool
    ) async throws {
        let realm = newRealm()
        _ = try await log.append(commit(to: newID(), in: realm))
        let shared = newID()
        let (answers, note) = AsyncThrowingStream.makeStream(of: (Int, String?).self)
        for number in schedule.order {
            let writer = writers[number]
            let stream = meetInOneStream ? shared : newID()
            let begun = Task {
                do {
                    try await writer.run("begin")
                    note.yield((number, try await writer.text(rawAppend(to: stream, in: realm))))
                } catch {
                    note.finish(throwing: error)
                }
            }
            if number == schedule.order[0] {
                await begun.value
            } else {
                try await eventually("writer \(number) waits") {
                    try await watcher.isWaiting(writer)
                }
            }
        }
        var committed: Int64 = 1
        var isTaken = false
        var left = writers.count
        // Who of those that wait comes next is the server's choice.
        for try await (number, answer) in answers {
            let loses = meetInOneStream && isTaken
            #expect(answer == (loses ? "c 0" : "w \(committed + 1)"), "\(schedule)")
            // Done, but not committed: nobody may see it.
            try await expectPrefix(committed, log, realm, "\(schedule)")
            try await writers[number].run(schedule.commits[number] ? "commit" : "rollback")
            if schedule.commits[number], !loses {
                committed += 1
                isTaken = true
            }
            try await expectPrefix(committed, log, realm, "\(schedule)")
            left -= 1
            if left == 0 { note.finish() }
        }
    }

    private func expectPrefix(
        _ count: Int64, _ log: PostgresLog, _ realm: RealmID, _ schedule: String
    ) async throws {
        let events = try await log.events(from: 1, limit: 100, in: realm)
        #expect(events.map(\.position) == Array(1...count), "\(schedule)")
        let head = try await log.head(of: realm)
        #expect(head.position == count, "\(schedule)")
    }

    @Test func `concurrent writers in plain SQL block the log's commands in their realm alone`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let (held, free) = (newRealm(), newRealm())
        for realm in [held, free] { _ = try await store.log.append(commit(to: newID(), in: realm)) }
        let watcher = try await Session(store.database.superuser)
        let writer = try await Session(store.database.application)
        try await writer.run("begin")
        #expect(try await writer.text(rawAppend(to: newID(), in: held)) == "w 2")

        async let waiting = store.log.append(commit(to: newID(), in: held))
        try await eventually("the committer waits") {
            try await watcher.waitingCommitters().count == 1
        }
        for position in 2...4 {
            let at = try expectWon(await store.log.append(commit(to: newID(), in: free)))
            #expect(at.first == Int64(position))
        }
        try await expectPrefix(1, store.log, held, "held")
        try await expectPrefix(4, store.log, free, "free")

        try await writer.run("commit")
        #expect(try expectWon(await waiting).first == 3)
        try await expectPrefix(3, store.log, held, "held")
    }

    @Test func `concurrent writers open a new realm's log once, also when the first one gives up`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let watcher = try await Session(store.database.superuser)
        let writer = try await Session(store.database.application)
        for ending in ["commit", "rollback"] {
            let realm = newRealm()
            try await writer.run("begin")
            #expect(try await writer.text(rawAppend(to: newID(), in: realm)) == "w 1")
            async let second = store.log.append(commit(to: newID(), in: realm))
            try await eventually("the second waits") {
                try await watcher.waitingCommitters().count == 1
            }
            #expect(try await store.log.head(of: realm) == Head(epoch: 0, position: 0))
            try await writer.run(ending)
            let expected: Int64 = ending == "commit" ? 2 : 1
            #expect(try expectWon(await second).first == expected)
            try await expectPrefix(expected, store.log, realm, ending)
        }
    }
}
