import EventSourcing
import EventStore
import JSON
import PostgresTesting
import Testing
import Values

@Suite struct `A write that fails in the middle of a flight` {
    /// What flies, and how often it writes at least: each row counts twice, and those of events and
    /// commands once more at the commit.
    enum Load: Int, CaseIterable {
        /// One that wins.
        case lone = 12
        /// Two that win.
        case winning = 22
        /// Two that win, a repeat and one that loses.
        case mixed = 23
    }

    @Test(arguments: FaultPlan.Way.allCases, Load.allCases)
    func `a write that fails at any statement of a flight leaves whole commands or nothing`(
        way: FaultPlan.Way, load: Load
    ) async throws {
        let store = try TestStore(lanes: 1)
        defer { store.log.close() }
        let plan = try await FaultPlan(store.database)
        var plug = try await Plug(store)
        var step = 1
        while true {
            let realm = newRealm()
            let commits = try await prepare(store.log, realm, load)
            try await plug.insert()
            async let answers = endings(store.log, commits)
            try await plug.waitUntilQueued(commits.count)
            try await plan.arm(realm, step: step, way)
            try await plug.pull()
            let found = await answers
            guard try await plan.disarm(step: step) else { break }
            try await check(found, commits, way, step, store, realm)
            step += 1
        }
        #expect(step > load.rawValue, "Only \(step - 1) writes were there to fail.")
    }

    private func prepare(
        _ log: PostgresLog, _ realm: RealmID, _ load: Load
    ) async throws -> [Commit] {
        let (old, new) = (newID(), newID())
        var opening = commit(
            to: old, events: 2, in: realm, claims: [.take(Claim("slot", "1"), for: old)],
            open: ["take": 1])
        // Only the first event says what was taken.
        opening.events[1] = commit(to: old, in: realm).events[0]
        try expectWon(await log.append(opening))
        let releaser = commit(
            to: old, at: 2, in: realm, claims: [.release(Claim("slot", "1"), by: old)],
            open: ["release": 1, "by": .string(old.description)])
        if load == .lone { return [releaser] }
        let taker = commit(
            to: new, in: realm, claims: [.take(Claim("slot", "2"), for: new)], open: ["take": 2])
        if load == .winning { return [taker, releaser] }
        var again = opening
        again.origin.at = testTime.adding(seconds: 1)
        return [taker, releaser, again, commit(to: newID(), at: 7, in: realm)]
    }

    private func check(
        _ answers: [Result<AppendOutcome, LogFailure>], _ commits: [Commit],
        _ way: FaultPlan.Way, _ step: Int, _ store: TestStore, _ realm: RealmID
    ) async throws {
        let comment: Comment = "\(way), step \(step): \(answers)"
        for (index, (answer, commit)) in zip(answers, commits).enumerated() {
            let earlier: AppendOutcome? =
                index == 2 ? .duplicate(Positions(epoch: 1, first: 1, count: 2)) : nil
            let known = try await store.log.outcome(of: commit.command, digest: [], in: realm)
            switch answer {
            case .success(.won(let at)): #expect(known == .duplicate(at), comment)
            case .success(.duplicate(let at)): #expect(known == .duplicate(at), comment)
            case .success(.conflict): #expect(known == nil, comment)
            case .success(.taken), .success(.misused):
                Issue.record("Nothing was taken or misused: \(comment)")
            case .failure(.unavailable): #expect(known == earlier, comment)
            case .failure(.refused): #expect(known == earlier && way == .refusal, comment)
            case .failure: Issue.record("No such failure was planned: \(comment)")
            }
        }
        // Who can't be to blame for the end of a connection is not made to suffer for it.
        if way == .death { #expect(answers.allSatisfy { (try? $0.get()) != nil }, comment) }
        // The log goes on: whatever failed can be sent again.
        for (index, commit) in commits.enumerated() {
            let outcome = try await store.log.append(commit)
            switch outcome {
            case .won, .duplicate: #expect(index != 3, comment)
            case .conflict: #expect(index == 3, comment)
            case .taken, .misused: Issue.record("Sent again: \(outcome), \(comment)")
            }
        }
        let session = try await Session(store.database.superuser)
        try await LogAudit(session: session, keyring: store.keyring, realm: realm).run()
    }
}
