import EventSourcing
import Identity
import Postgres
import Testing
import Values

@testable import ReadModels

@Suite struct `What a stream of signals has yet to deliver` {
    private let stream = UUID(high: 90, low: 1)
    private let ann = UUID(high: 90, low: 2)
    private let bob = UUID(high: 90, low: 3)
    private let now = Timestamp(seconds: 1_800_000_000)

    private func signal(_ name: String, _ position: Int64, _ account: UUID?) -> PendingSignal {
        PendingSignal(jti: name, position: position, type: "t", account: account, issuedAt: now)
    }

    private func world() throws -> (World, RealmID) {
        let world = try World()
        var history = RandomHistory(seed: 5)
        try world.append(history.events(8), in: "one")
        return (world, try #require(RealmID("one")))
    }

    private func step(
        from: SignalCursor?, to position: Int64, version: Int = 1, droppedTo: Int64 = 0,
        keptTo: Int64 = .max, epoch: Int = 1, _ signals: [PendingSignal] = []
    ) -> SignalStep {
        SignalStep(
            from: from, epoch: epoch, position: position, version: version, droppedTo: droppedTo,
            keptTo: keptTo, signals: signals, at: now)
    }

    @Test func `a stream moves on from where it is, and of two nodes one moves it`() async throws {
        let (world, realm) = try world()
        let queries = world.queries
        #expect(try await queries.signalCursor(of: stream, in: realm) == nil)
        let first = step(from: nil, to: 3, [signal("a", 2, ann)])
        #expect(try await queries.advanceSignals(of: stream, in: realm, by: first))
        #expect(try await !queries.advanceSignals(of: stream, in: realm, by: first))
        let cursor = try #require(try await queries.signalCursor(of: stream, in: realm))
        #expect(cursor.position == 3)
        #expect(cursor.keptTo == 3)
        #expect(cursor.pending == 1)
        let next = step(from: cursor, to: 5, [signal("b", 4, bob), signal("a", 2, ann)])
        #expect(try await queries.advanceSignals(of: stream, in: realm, by: next))
        #expect(try await !queries.advanceSignals(of: stream, in: realm, by: next))
        let names = try await queries.pendingSignals(of: stream, in: realm, limit: 9).map(\.jti)
        #expect(names == ["a", "b"])
    }

    @Test func `the first signal of each account is due, until it is confirmed or waits`()
        async throws
    {
        let (world, realm) = try world()
        let queries = world.queries
        let all = [
            signal("a1", 2, ann), signal("a2", 3, ann), signal("b1", 4, bob), signal("s", 5, nil),
        ]
        _ = try await queries.advanceSignals(
            of: stream, in: realm, by: step(from: nil, to: 5, all))
        func due(_ time: Timestamp? = nil) async throws -> [String] {
            try await queries.foremostSignals(of: stream, in: realm, at: time ?? now, limit: 9)
                .map(\.jti)
        }
        #expect(try await due() == ["s", "a1", "b1"])
        try await queries.deferSignal("a1", of: stream, in: realm, until: now.adding(seconds: 9))
        #expect(try await due() == ["s", "b1"])
        #expect(try await due(now.adding(seconds: 9)) == ["s", "a1", "b1"])
        try await queries.resumeSignals(of: stream, in: realm, at: now)
        #expect(try await due() == ["s", "a1", "b1"])
        try await queries.confirmSignals(["a1", "s"], of: stream, in: realm, at: now)
        try await queries.refuseSignal("b1", because: "no", of: stream, in: realm, at: now)
        #expect(try await due() == ["a2"])
        // One that was refused does not come again with the stretch of the log that it comes of.
        let cursor = try #require(try await queries.signalCursor(of: stream, in: realm))
        _ = try await queries.advanceSignals(
            of: stream, in: realm, by: step(from: cursor, to: 6, [signal("b1", 4, bob)]))
        #expect(try await due() == ["a2"])
    }

    @Test func `a change of the stream's status is delivered before all else`() async throws {
        let (world, realm) = try world()
        let queries = world.queries
        var update = signal("u", 5, nil)
        update.type = "https://schemas.openid.net/secevent/ssf/event-type/stream-updated"
        let all = [signal("v", 2, nil), signal("a", 3, ann), update]
        _ = try await queries.advanceSignals(
            of: stream, in: realm, by: step(from: nil, to: 5, all))
        let listed = try await queries.pendingSignals(of: stream, in: realm, limit: 9)
        #expect(listed.map(\.jti) == ["u", "v", "a"])
        let due = try await queries.foremostSignals(of: stream, in: realm, at: now, limit: 9)
        #expect(due.map(\.jti) == ["u", "a"])
    }

    @Test func `what was waiting when a stream was disabled, or is of a lost tail, is dropped`()
        async throws
    {
        let (world, realm) = try world()
        let queries = world.queries
        let all = [signal("a", 2, ann), signal("b", 4, bob), signal("c", 6, ann)]
        _ = try await queries.advanceSignals(
            of: stream, in: realm, by: step(from: nil, to: 6, all))
        let cursor = try #require(try await queries.signalCursor(of: stream, in: realm))
        _ = try await queries.advanceSignals(
            of: stream, in: realm,
            by: step(from: cursor, to: 5, droppedTo: 2, keptTo: 5, epoch: 2))
        let left = try await queries.pendingSignals(of: stream, in: realm, limit: 9).map(\.jti)
        #expect(left == ["b"])
    }

    @Test func `what a signal about the stream says is kept with it`() async throws {
        let (world, realm) = try world()
        let queries = world.queries
        let told = PendingSignal(
            jti: "e", position: 3, type: "told", state: "Epoch 2 began.", issuedAt: now)
        _ = try await queries.advanceSignals(
            of: stream, in: realm, by: step(from: nil, to: 6, [told, signal("a", 2, ann)]))
        let left = try await queries.pendingSignals(of: stream, in: realm, limit: 9)
        #expect(left.map(\.state) == ["Epoch 2 began.", nil])
    }

    @Test func `signals that are sent again take the place of those that wait or were refused`()
        async throws
    {
        let (world, realm) = try world()
        let queries = world.queries
        let all = [signal("a", 2, ann), signal("b", 4, bob), signal("v", 4, nil)]
        _ = try await queries.advanceSignals(
            of: stream, in: realm, by: step(from: nil, to: 6, all))
        try await queries.refuseSignal("b", because: "no", of: stream, in: realm, at: now)
        let cursor = try #require(try await queries.signalCursor(of: stream, in: realm))
        let again = step(from: cursor, to: 6, version: 2, keptTo: 2, [signal("b", 4, bob)])
        #expect(try await queries.advanceSignals(of: stream, in: realm, by: again))
        let left = try await queries.pendingSignals(of: stream, in: realm, limit: 9).map(\.jti)
        #expect(left == ["v", "a", "b"])
    }

    @Test func `a stream that was further in an epoch before is told how much of it is kept`()
        async throws
    {
        let (world, realm) = try world()
        let queries = world.queries
        _ = try await queries.advanceSignals(of: stream, in: realm, by: step(from: nil, to: 6))
        #expect(try await queries.signalCursor(of: stream, in: realm)?.keptTo == 6)
        for (epoch, after, kept) in [(2, 7, 7), (3, 4, 4), (4, 5, 4)] {
            for sql in [
                "update urd.realm_log set epoch = \(epoch) where realm = 'one'",
                "update urd.epoch set began_after = \(after) where epoch = \(epoch)",
            ] {
                _ = try world.superuser.run(sql)
            }
            let cursor = try await queries.signalCursor(of: stream, in: realm)
            #expect(cursor?.keptTo == Int64(kept))
            // Whether its receiver was told is seen by this one.
            #expect(cursor?.epoch == 1)
        }
    }

    @Test func `failures are counted until the receiver takes something`() async throws {
        let (world, realm) = try world()
        let queries = world.queries
        _ = try await queries.advanceSignals(
            of: stream, in: realm, by: step(from: nil, to: 5, [signal("a", 2, ann)]))
        for _ in 0..<2 {
            try await queries.deferSignals(
                of: stream, in: realm, at: now, until: now)
        }
        var cursor = try await queries.signalCursor(of: stream, in: realm)
        #expect(cursor?.failures == 2)
        #expect(cursor?.nextAt == now)
        #expect(cursor?.failingSince != nil)
        try await queries.confirmSignals(["a"], of: stream, in: realm, at: now)
        cursor = try await queries.signalCursor(of: stream, in: realm)
        #expect(cursor?.failures == 0)
        #expect(cursor?.failingSince == nil)
        #expect(cursor?.nextAt == nil)
        #expect(cursor?.pending == 0)
    }

    @Test func `a verification is put in once in its interval, and deleting forgets all`()
        async throws
    {
        let (world, realm) = try world()
        let queries = world.queries
        _ = try await queries.advanceSignals(of: stream, in: realm, by: step(from: nil, to: 5))
        var asked = signal("v1", 5, nil)
        asked.state = "state"
        #expect(
            try await queries.verifySignals(of: stream, in: realm, by: asked, atLeastAfter: 60))
        asked.jti = "v2"
        #expect(
            try await !queries.verifySignals(of: stream, in: realm, by: asked, atLeastAfter: 60))
        #expect(
            try await queries.verifySignals(of: stream, in: realm, by: asked, atLeastAfter: 0))
        let pending = try await queries.pendingSignals(of: stream, in: realm, limit: 9)
        #expect(pending.map(\.jti).sorted() == ["v1", "v2"])
        #expect(pending.allSatisfy { $0.state == "state" && $0.account == nil })
        try await queries.forgetSignals(of: stream, in: realm)
        #expect(try await queries.signalCursor(of: stream, in: realm) == nil)
        #expect(try await queries.pendingSignals(of: stream, in: realm, limit: 9).isEmpty)
    }

    @Test func `the streams of a client are those that it has now`() async throws {
        let world = try World()
        let realm = try #require(RealmID("one"))
        let client = UUID(high: 91, low: 1)
        let fields = """
            {"client":"\(client)","client_id":"siem","default_subjects":"ALL",
            "issuer":"https://id.example","method":"urn:ietf:rfc:8935","requested":[],
            "endpoint":"https://a.example","slot":4}
            """
        try world.append(
            [
                Happening("ssf_stream.created", stream, version: 1, fields),
                Happening("ssf_stream.created", ann, version: 1, fields),
                Happening("ssf_stream.deleted", ann, version: 2),
            ], in: "one")
        let found = try await world.queries.ask(SignalStreamView.ofClient, client, in: realm)
        #expect(found.map(\.id) == [stream])
        #expect(found.first?.slot == 4)
        #expect(try await world.queries.enabledSignalStreams().map(\.stream) == [stream])
        #expect(try await world.queries.enabledSignalStreams().first?.isPushed == true)
        try world.append(
            [
                Happening(
                    "ssf_stream.status_changed", stream, version: 2,
                    #"{"by":"receiver","status":"paused"}"#)
            ], in: "one")
        #expect(try await world.queries.enabledSignalStreams().isEmpty)
        #expect(
            try await world.queries.ask(SignalStreamView.ofClient, client, in: realm).first?.status
                == "paused")
    }
    @Test func `a stream ends with its client`() async throws {
        let world = try World()
        let realm = try #require(RealmID("one"))
        let client = UUID(high: 91, low: 1)
        let fields = """
            {"client":"\(client)","client_id":"siem","default_subjects":"ALL",
            "issuer":"https://id.example","method":"urn:ietf:rfc:8935","requested":[],
            "endpoint":"https://a.example","slot":4}
            """
        let queries = world.queries
        let other = Happening("account.registered", ann, version: 1)
        try world.append(
            [Happening("ssf_stream.created", stream, version: 1, fields), other], in: "one")
        _ = try await queries.advanceSignals(of: stream, in: realm, by: step(from: nil, to: 1))
        #expect(try await queries.enabledSignalStreams().map(\.stream) == [stream])
        #expect(try await queries.signalLag()?.events == 1)
        #expect(try await queries.forgottenSignalStreams().isEmpty)
        try world.append([Happening("client.deleted", client, version: 1)], in: "one")
        #expect(try await queries.enabledSignalStreams().isEmpty)
        #expect(try await queries.signalLag() == SignalLag.none)
        #expect(try await queries.forgottenSignalStreams().map(\.stream) == [stream])
    }
}
