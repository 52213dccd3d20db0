import EventSourcing
import Testing
import Values

@testable import EventStore

@Suite struct `Admission to the log` {
    private let one = newRealm()
    private let two = newRealm()
    private let three = newRealm()

    /// Sends commits through an admission of its own, and lets them go in the end.
    private func admitted(
        _ commits: [EncodedCommit], limits: Admission.Limits = .init(),
        _ body: (inout Admission) throws -> Void
    ) async rethrows {
        var waiters: [Waiter] = []
        for commit in commits { waiters.append(await Waiter(commit)) }
        var admission = Admission(limits)
        for waiter in waiters { _ = admission.admit(waiter.pending) }
        defer { for waiter in waiters { waiter.pending.settle(.failure(.unavailable)) } }
        try body(&admission)
    }

    private func commands(_ batch: Batch?) -> [UUID] {
        batch?.commands.map(\.commit.command) ?? []
    }

    @Test func `admission lets unrelated commands share a batch, in their order`() async {
        let shared = newID()
        let commits = [
            EncodedCommit.of(one, writes: [newID()], claims: ["a"]),
            .of(one, writes: [newID()], reads: [shared], claims: ["b"]),
            .of(one, reads: [shared]),
            // To write what others only read changes nothing for them.
            .of(one, writes: [shared]),
        ]
        await admitted(commits) { admission in
            #expect(commands(admission.take(lane: 1)) == commits.map(\.command))
            #expect(admission.take(lane: 1) == nil)
            #expect(admission.waiting == 0)
        }
    }

    static let shared = newID()
    static let command = newID()
    static let realm = newRealm()

    /// Pairs of which the second must see how the first one ended.
    static let dependent: [String: (EncodedCommit, EncodedCommit)] = [
        "both write a stream": (.of(realm, writes: [shared]), .of(realm, writes: [shared])),
        "one reads what was written": (.of(realm, writes: [shared]), .of(realm, reads: [shared])),
        "both want a claim": (.of(realm, claims: ["a"]), .of(realm, claims: ["a"])),
        "they are one command": (.of(realm, command: command), .of(realm, command: command)),
        "they believe in two epochs": (.of(realm, epoch: 1), .of(realm, epoch: 2)),
    ]

    @Test(arguments: dependent.keys.sorted())
    func `admission keeps commands that depend on each other in separate batches`(why: String)
        async throws
    {
        let (first, second) = try #require(Self.dependent[why])
        let stranger = EncodedCommit.of(Self.realm, writes: [newID()], epoch: first.epoch)
        await admitted([first, second, stranger]) { admission in
            #expect(commands(admission.take(lane: 1)) == [first.command, stranger.command])
            let next = admission.take(lane: 1)
            #expect(commands(next) == [second.command])
            #expect(next?.epoch == second.epoch)
        }
    }

    @Test func `admission never leaves the first command behind`() async {
        let stream = newID()
        let commits = (0..<20).map { _ in EncodedCommit.of(one, writes: [stream]) }
        await admitted(commits) { admission in
            for commit in commits {
                #expect(commands(admission.take(lane: 1)) == [commit.command])
            }
        }
    }

    @Test func `admission fills a batch up to its limits`() async {
        let limits = Admission.Limits(waiting: 100, commands: 4, bytes: 1_000)
        let small = (0..<9).map { _ in EncodedCommit.of(one, writes: [newID()], size: 10) }
        await admitted(small, limits: limits) { admission in
            #expect((0..<3).map { _ in commands(admission.take(lane: 1)).count } == [4, 4, 1])
        }
        let large = (0..<5).map { _ in EncodedCommit.of(one, writes: [newID()], size: 600) }
        await admitted(large, limits: limits) { admission in
            #expect((0..<3).map { _ in commands(admission.take(lane: 1)).count } == [2, 2, 1])
        }
        let huge = [EncodedCommit.of(one, size: 1 << 30), .of(one)]
        await admitted(huge, limits: limits) { admission in
            #expect((0..<2).map { _ in commands(admission.take(lane: 1)).count } == [1, 1])
        }
    }

    @Test func `admission gives a realm to one lane as long as any of its batches is in flight`()
        async
    {
        let stream = newID()
        let commits = (0..<4).map { _ in EncodedCommit.of(one, writes: [stream]) }
        await admitted(commits + [.of(two)]) { admission in
            #expect(admission.take(lane: 1)?.realm == one)
            #expect(admission.take(lane: 2)?.realm == two)
            #expect(admission.take(lane: 2) == nil)
            // Its own lane may send the next behind it.
            #expect(admission.take(lane: 1)?.realm == one)
            admission.land(one)
            #expect(admission.take(lane: 2) == nil)
            admission.land(one)
            #expect(admission.take(lane: 2)?.realm == one)
            #expect(admission.take(lane: 1) == nil)
        }
    }

    @Test func `admission lets realms take turns, batch by batch`() async {
        let limits = Admission.Limits(waiting: 1_000, commands: 10, bytes: 1 << 20)
        let busy = (0..<50).map { _ in EncodedCommit.of(one, writes: [newID()]) }
        await admitted(busy + [.of(two), .of(three)], limits: limits) { admission in
            let turns = (0..<7).map { _ in admission.take(lane: 1)?.realm }
            #expect(turns == [one, two, three, one, one, one, one])
            #expect(admission.waiting == 0)
        }
    }

    @Test func `admission refuses commands over its capacity, and all once it is closed`() async {
        let limits = Admission.Limits(waiting: 4, commands: 10, bytes: 1 << 20)
        var admission = Admission(limits)
        var waiters: [Waiter] = []
        for (realm, isTaken) in [
            (one, true), (one, true), (one, false), (two, true), (two, true), (three, false),
        ] {
            let waiter = await Waiter(.of(realm))
            waiters.append(waiter)
            if case .refused = admission.admit(waiter.pending) {
                #expect(!isTaken)
            } else {
                #expect(isTaken)
            }
        }
        #expect(admission.waiting == 4)
        admission.isClosed = true
        #expect(admission.drain().count == 4)
        #expect(admission.waiting == 0 && admission.take(lane: 1) == nil)
        if case .refused = admission.admit(waiters[0].pending) {
        } else {
            Issue.record("A closed admission lets nobody in.")
        }
        for waiter in waiters { await waiter.release() }
    }

    @Test func `admission removes cancelled commands from the queue, but none in flight`() async {
        var admission = Admission(.init(waiting: 4, commands: 10, bytes: 1 << 20))
        var waiters: [Waiter] = []
        // A command may wait twice, for two callers.
        for commit in [
            EncodedCommit.of(one, command: Self.command), .of(one, command: Self.command),
        ] {
            waiters.append(await Waiter(commit))
        }
        for waiter in waiters { _ = admission.admit(waiter.pending) }
        let (isOut, isOutAgain) = (
            admission.withdraw(waiters[1].pending), admission.withdraw(waiters[1].pending)
        )
        #expect(isOut && !isOutAgain)
        #expect(admission.waiting == 1)
        #expect(admission.take(lane: 1)?.commands.first === waiters[0].pending)
        let isBack = admission.withdraw(waiters[0].pending)
        #expect(!isBack)
        #expect(admission.waiting == 0 && admission.take(lane: 1) == nil)
        admission.land(one)
        // The realm has its turn again with the next who comes.
        _ = admission.admit(waiters[1].pending)
        #expect(admission.take(lane: 2)?.commands.first === waiters[1].pending)
        for waiter in waiters { await waiter.release() }
    }

    @Test func `admission wakes a lane only where none has the realm`() async {
        var admission = Admission(.init())
        let waiters = [await Waiter(.of(one)), await Waiter(.of(one)), await Waiter(.of(two))]
        if case .queuedForAny = admission.admit(waiters[0].pending) {
        } else {
            Issue.record("Nobody would hear of the first command.")
        }
        _ = admission.take(lane: 1)
        if case .queued = admission.admit(waiters[1].pending) {
        } else {
            Issue.record("The lane that has the realm need not be called.")
        }
        if case .queuedForAny = admission.admit(waiters[2].pending) {
        } else {
            Issue.record("Another realm needs another lane.")
        }
        for waiter in waiters { await waiter.release() }
    }
}
