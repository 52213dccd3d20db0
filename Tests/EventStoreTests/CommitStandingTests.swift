import PostgresTesting
import Testing

@testable import EventStore

@Suite struct `The standing of commits` {
    private let start = ContinuousClock.now

    private func after(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test func `the commits' standing is unknown before each lane has committed`() {
        var standing = CommitStanding(lanes: 1...2)
        #expect(standing.fault(at: start) == "committer 1 has committed nothing yet")
        #expect(standing.begin(at: start) == [1, 2])
        #expect(standing.begin(at: start) == [])
        standing.commit(lane: 1, at: start)
        standing.endTrial(lane: 1)
        #expect(standing.fault(at: start) == "committer 2 has committed nothing yet")
        standing.commit(lane: 2, at: start)
        standing.endTrial(lane: 2)
        #expect(standing.fault(at: start) == nil)
    }

    @Test
    func `the commits' standing is probed by lanes that have not committed lately, and no other`() {
        var standing = CommitStanding(lanes: 1...2)
        for lane in 1...2 { standing.commit(lane: lane, at: start) }
        #expect(standing.begin(at: after(2)) == [])
        standing.commit(lane: 2, at: after(2))
        #expect(standing.begin(at: after(3)) == [1])
        #expect(standing.begin(at: after(9)) == [2])
    }

    @Test func `the commits' standing fails with the first lane, until that lane commits`() {
        var standing = CommitStanding(lanes: 1...2)
        for lane in 1...2 { standing.commit(lane: lane, at: start) }
        standing.fail(lane: 2, why: "too many connections")
        standing.commit(lane: 1, at: after(1))
        #expect(standing.fault(at: after(1)) == "committer 2: too many connections")
        // It is tried again at once, and not only when it has been quiet for long.
        #expect(standing.begin(at: after(1)) == [2])
        standing.commit(lane: 2, at: after(1))
        #expect(standing.fault(at: after(1)) == nil)
    }

    @Test func `the commits' standing fails once a lane waits too long, but not while it is busy`()
    {
        var standing = CommitStanding(lanes: 1...1)
        standing.commit(lane: 1, at: start)
        #expect(standing.begin(at: after(3)) == [1])
        #expect(standing.fault(at: after(13)) == nil)
        #expect(
            standing.fault(at: after(14))
                == "committer 1: no commit has got through for 11 s")
        // Others' commits went on all the while: only the trial has not had its turn.
        standing.commit(lane: 1, at: after(12))
        #expect(standing.fault(at: after(14)) == nil)
    }

    @Test func `a full disk is a fault until a trial finds room, whatever is committed meanwhile`()
    {
        var standing = CommitStanding(lanes: 1...1)
        standing.commit(lane: 1, at: start)
        standing.note(shortage: "the disk is full", lane: 1)
        standing.commit(lane: 1, at: after(1))
        #expect(standing.fault(at: after(1)) == "committer 1: the disk is full")
        #expect(standing.begin(at: after(1)) == [1])
        standing.note(shortage: nil, lane: 1)
        standing.endTrial(lane: 1)
        #expect(standing.fault(at: after(1)) == nil)
    }

    @Test func `an append that was refused is remembered for a minute, or until one is taken`() {
        var standing = CommitStanding(lanes: 1...2)
        for lane in 1...2 { standing.commit(lane: lane, at: start) }
        standing.note(refusal: "no room", lane: 2, at: start)
        standing.commit(lane: 2, at: after(1))
        #expect(standing.refusal(at: after(60)) == "committer 2: no room")
        #expect(standing.fault(at: after(1)) == nil)
        #expect(standing.refusal(at: after(61)) == nil)
        standing.note(refusal: nil, lane: 1, at: after(2))
        #expect(standing.refusal(at: after(2)) == nil)
    }

    @Test func `the commits' standing is probed by a commit on each lane`() async throws {
        let store = try TestStore(lanes: 2)
        defer { store.log.close() }
        #expect(store.log.commitFault == "committer 1 has committed nothing yet")
        let trying = Task { try await store.log.tryCommits(every: .milliseconds(10)) }
        defer { trying.cancel() }
        try await eventually("both lanes have committed") { store.log.commitFault == nil }
        // It leaves nothing behind.
        let session = try await Session(store.database.superuser)
        #expect(
            try await session.number(
                "select count(*) from urd.event, urd.realm_log, urd.command") == 0)
        #expect(try await session.number("select count(*) from urd.realm_log") == 0)
    }

    @Test func `the commits' standing has PostgreSQL's words where a lane gets no connection`()
        async throws
    {
        let cluster = try TestCluster()
        let store = try TestStore(cluster.makeDatabase(), master: .generate(), lanes: 2)
        defer { store.log.close() }
        let trying = Task { try await store.log.tryCommits(every: .milliseconds(10)) }
        defer { trying.cancel() }
        try await eventually("both lanes have committed") { store.log.commitFault == nil }
        let session = try await Session(store.database.superuser)
        try await session.run("alter role urd_app connection limit 0")
        try await session.breakCommitters()
        try await eventually("the lanes say why") {
            store.log.commitFault?.contains("too many connections for role") == true
        }
        try await session.run("alter role urd_app connection limit -1")
        try await eventually("both lanes have committed") { store.log.commitFault == nil }
    }
}
