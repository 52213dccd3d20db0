import Postgres
import PostgresTesting
import Testing
import Values

@testable import urd

@Suite struct `Leadership among several nodes` {
    private let database: TestDatabase

    init() throws { database = try TestCluster.shared.makeDatabase() }

    /// A node of its own, with a session of its own.
    private func node(_ term: Duration) -> Leadership {
        Leadership(of: "work", in: Leases(at: database.application), term: term)
    }

    @Test func `a leader that is silent for its term loses the lease to another node`()
        async throws
    {
        let term = Duration.seconds(3)
        let frozen = node(term)
        let other = node(term)
        // Where the machine holds the test up, part of the term is over at the next line.
        let began = ContinuousClock.now
        var isEarly: Bool { ContinuousClock.now - began < term / 2 }
        #expect(await frozen.isHeld())
        #expect(frozen.isCertain || !isEarly)
        let isOthers = await other.isHeld()
        #expect(!isOthers && !other.isCertain || !isEarly)
        while await !other.isHeld() {
            try #require(ContinuousClock.now - began < .seconds(60), "it never gets it")
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(ContinuousClock.now - began > term * 2 / 3)
        #expect(other.isCertain)
        // It knows before it asks, and then competes like all others.
        #expect(!frozen.isCertain)
        #expect(await !frozen.isHeld())
    }

    @Test func `a leader whose session is gone is followed before its term is over`() async throws {
        let term = Duration.seconds(60)
        let leases = Leases(at: database.application)
        let first = Leadership(of: "work", in: leases, term: term)
        let other = node(term)
        let began = ContinuousClock.now
        #expect(await first.isHeld())
        leases.database.close()
        while await !other.isHeld() {
            try #require(ContinuousClock.now - began < .seconds(50), "it never gets it")
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test func `a node that lets go is followed at once`() async throws {
        let leases = Leases(at: database.application)
        let first = Leadership(of: "work", in: leases, term: .seconds(600))
        let other = node(.seconds(600))
        #expect(await first.isHeld())
        await leases.release()
        #expect(await other.isHeld())
    }

    @Test func `a session that locks the row keeps nobody waiting, and is no leader`() async throws
    {
        let first = node(.milliseconds(300))
        #expect(await first.isHeld())
        let stuck = try Connection(database.application)
        try stuck.run("begin; select from urd.lease for update")
        let began = ContinuousClock.now
        while await first.isHeld() {
            try #require(
                ContinuousClock.now - began < .seconds(60), "it holds what it cannot renew")
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(!first.isCertain)
        try stuck.run("rollback")
        while await !first.isHeld() {
            try #require(ContinuousClock.now - began < .seconds(60), "it never gets it again")
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}

/// The rules alone, on clocks that the test sets.
@Suite struct `A lease as one node sees it` {
    private let term = Duration.seconds(15)
    private let start = ContinuousClock.now
    private let node = UUID(high: 1, low: 1)
    private let other = UUID(high: 2, low: 2)

    private func step(_ watch: inout LeaseWatch, _ row: LeaseWatch.Row, _ seconds: Double)
        -> LeaseWatch.Step
    {
        let now = start + .seconds(seconds)
        return watch.step(row, asked: now, now: now)
    }

    @Test
    func `a row that changes is left to its holder, and one that stands still for a term is taken`()
    {
        var watch = LeaseWatch(node: node, term: term)
        for second in 0..<100 {
            let row = LeaseWatch.Row(holder: other, renewals: Int64(second / 3))
            #expect(step(&watch, row, Double(second)) == .leave)
        }
        let row = LeaseWatch.Row(holder: other, renewals: 33)
        #expect(step(&watch, row, 99 + 14) == .take || step(&watch, row, 99 + 14) == .leave)
        #expect(step(&watch, row, 99 + 15) == .take)
    }

    @Test func `a lost session counts when it has been lost for two questions of its node`() {
        var watch = LeaseWatch(node: node, term: term)
        let lost = LeaseWatch.Row(holder: other, renewals: 1, hasLostSession: true)
        #expect(step(&watch, lost, 0) == .leave)
        #expect(step(&watch, LeaseWatch.Row(holder: other, renewals: 1), 1) == .leave)
        #expect(step(&watch, lost, 2) == .leave)
        #expect(step(&watch, lost, 3) == .leave)
        #expect(step(&watch, lost, 4.1) == .take)
    }

    @Test func `a holder with a new session names it at once`() {
        var watch = LeaseWatch(node: node, term: term)
        let ours = LeaseWatch.Row(holder: node, renewals: 1)
        #expect(step(&watch, ours, 0) == .renew)
        watch.noteWritten(asked: start)
        #expect(step(&watch, ours, 1) == .keep)
        var lost = ours
        lost.hasLostSession = true
        #expect(step(&watch, lost, 1) == .renew)
        #expect(step(&watch, ours, 3) == .renew)
        #expect(watch.isCertain(at: start + .seconds(9.9)))
        #expect(!watch.isCertain(at: start + .seconds(10)))
    }

    /// Nodes that freeze for any time at any line, a database that is started anew, questions that fail.
    @Test func `two nodes are never both certain`() {
        for seed in 1...200 as ClosedRange<UInt64> {
            var chance = Chance(state: seed)
            var row = LeaseWatch.Row(holder: nil, renewals: 0)
            var watches = (0..<3).map {
                LeaseWatch(node: UUID(high: 9, low: UInt64($0)), term: term)
            }
            var awake = [Double](repeating: 0, count: 3)
            var clock = 0.0
            var takes = 0
            while clock < 600 {
                clock += 0.1
                for index in watches.indices where clock >= awake[index] {
                    awake[index] = clock + 1
                    if chance.next() % 40 == 0 {
                        awake[index] = clock + Double(chance.next() % 40)
                        continue
                    }
                    if chance.next() % 50 == 0 {
                        watches[index].noteUnanswered()
                        continue
                    }
                    // A question takes up to two seconds, in which others do what they do.
                    let asked = start + .seconds(clock - Double(chance.next() % 20) / 10)
                    let now = start + .seconds(clock)
                    let step = watches[index].step(row, asked: asked, now: now)
                    guard step == .take || step == .renew, chance.next() % 20 > 0 else { continue }
                    if step == .take { takes += 1 }
                    row = LeaseWatch.Row(
                        holder: watches[index].node, renewals: row.renewals + 1)
                    watches[index].noteWritten(asked: asked)
                }
                let certain = watches.count { $0.isCertain(at: start + .seconds(clock)) }
                #expect(certain <= 1, "seed \(seed) at \(clock) s")
            }
            #expect(takes > 1, "seed \(seed)")
        }
    }

    private struct Chance {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }
}
