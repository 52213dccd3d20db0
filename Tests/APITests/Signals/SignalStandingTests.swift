import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import ReadModels
import Testing
import Values

@testable import API

private let day: Int64 = 86_400
private let ann = UUID(high: 0x0193_a0e7_5e0c_7000, low: 0x9000_0000_0000_0001)

@Suite struct `The status of a stream of signals` {
    private func reason(_ work: SignalWork) -> String? {
        guard case .pause(let reason) = work else { return nil }
        return reason
    }

    @Test
    func `a receiver that nothing reaches for a day has its stream paused and hears of it first`()
        async throws
    {
        let pusher = try await SignalPusher()
        let (realm, clock) = (pusher.ours.world.realm, pusher.ours.world.clock)
        let first = try #require(try await pusher.posts().first)
        func fail() async throws {
            _ = try await pusher.feed.postpone(
                [(first, nil)], othersSettled: false, of: pusher.stream, in: realm)
        }
        try await fail()
        clock.advance(seconds: day - 60)
        #expect(reason(try await pusher.feed.work(for: pusher.stream, in: realm)) == nil)
        try await fail()
        clock.advance(seconds: 61)
        let why = try #require(reason(try await pusher.feed.work(for: pusher.stream, in: realm)))
        try await pusher.ours.world.carryOut(
            SignalStreamChange.setStatus(pusher.stream, client: nil, status: .paused, reason: why))
        #expect(try await pusher.posts().isEmpty)
        // It holds what happens for as long as that takes.
        clock.advance(seconds: 400 * day)
        let session = try await pusher.ours.session(of: ann)
        try await pusher.ours.end(session, of: ann)
        try await pusher.resume()
        let told = try await pusher.posts()
        #expect(try told.map { try pusher.kind($0) } == ["stream-updated"])
        let event = try JWTWorld.claims(try #require(told.first).token)["events"]
        #expect(
            event == [
                SignalOffer.streamUpdated: ["status": "paused", "reason": .string(why)]
            ])
        #expect(try await pusher.settle(try #require(told.first), 202))
        let rest = try await pusher.posts()
        #expect(try rest.map { try pusher.kind($0) }.contains("session-revoked"))
    }

    /// The node that set the status died before it had anything else written.
    @Test func `a stream that is enabled again has its day again`() async throws {
        let pusher = try await SignalPusher()
        let (realm, clock) = (pusher.ours.world.realm, pusher.ours.world.clock)
        let first = try #require(try await pusher.posts().first)
        _ = try await pusher.feed.postpone(
            [(first, nil)], othersSettled: false, of: pusher.stream, in: realm)
        clock.advance(seconds: 2 * day)
        for status in [SignalStatus.paused, .enabled] {
            try await pusher.ours.world.carryOut(
                SignalStreamChange.setStatus(
                    pusher.stream, client: try await pusher.client, status: status))
        }
        #expect(reason(try await pusher.feed.work(for: pusher.stream, in: realm)) == nil)
        clock.advance(seconds: day)
        #expect(reason(try await pusher.feed.work(for: pusher.stream, in: realm)) != nil)
    }

    @Test func `a failure that is over leaves no trace`() async throws {
        let pusher = try await SignalPusher()
        let (realm, clock) = (pusher.ours.world.realm, pusher.ours.world.clock)
        let first = try #require(try await pusher.posts().first)
        _ = try await pusher.feed.postpone(
            [(first, nil)], othersSettled: false, of: pusher.stream, in: realm)
        clock.advance(seconds: day - 60)
        #expect(try await pusher.settle(first, 202))
        clock.advance(seconds: day)
        #expect(reason(try await pusher.feed.work(for: pusher.stream, in: realm)) == nil)
    }

    @Test func `a stream that is not polled for thirty days is paused`() async throws {
        let pusher = try await SignalPusher()
        let realm = pusher.ours.world.realm
        let stream = try #require(UUID(try await pusher.ours.create()))
        #expect(reason(try await pusher.feed.work(for: stream, in: realm)) == nil)
        pusher.ours.world.clock.advance(seconds: 30 * day - 60)
        #expect(reason(try await pusher.feed.work(for: stream, in: realm)) == nil)
        let now = pusher.ours.world.clock.next()
        try await pusher.queries.heardOfSignals(of: stream, in: realm, at: now)
        pusher.ours.world.clock.advance(seconds: 30 * day - 60)
        #expect(reason(try await pusher.feed.work(for: stream, in: realm)) == nil)
        pusher.ours.world.clock.advance(seconds: 61)
        #expect(
            reason(try await pusher.feed.work(for: stream, in: realm))
                == "The stream was not polled.")
    }

    /// As it is for a stream that was further in an epoch before.
    @Test func `after a restore that lost events a stream goes on where the log does, and says so`()
        async throws
    {
        let pusher = try await SignalPusher()
        let world = pusher.ours.world
        #expect(try await pusher.settle(try #require(try await pusher.posts().first), 202))
        let (kept, lost) = (
            try await world.log.head(of: world.realm).position,
            try await pusher.ours.session(of: ann)
        )
        try await pusher.ours.end(lost, of: ann)
        let before = try #require(try await pusher.posts().first)
        pusher.queries.signals.change(pusher.stream) { known in
            known.cursor?.epoch = 0
            known.cursor?.position = kept + 9
            known.cursor?.keptTo = kept
        }
        let told = try await pusher.posts()
        #expect(try told.map { try pusher.kind($0) } == ["stream-updated"])
        let claims = try JWTWorld.claims(try #require(told.first).token)
        #expect(claims["txn"] == .string("1:\(kept)"))
        let event = claims["events"]?[SignalOffer.streamUpdated]
        #expect(event?["status"] == "enabled")
        let reason = "Epoch 1 of the log began after position \(kept): "
        #expect(event?["reason"]?.string?.hasPrefix(reason) == true)
        // It is named as it was, and said once.
        #expect(try await pusher.posts().map(\.token) == told.map(\.token))
        #expect(try await pusher.settle(try #require(told.first), 202))
        // What stands behind that place now is told. Here it is the same event, and has the same name.
        #expect(try await pusher.posts().map(\.jti) == [before.jti])
    }

    @Test func `the same place in another log is another signal`() {
        let (stream, type) = (UUID.random(), SignalKind.sessionRevoked.uri)
        let (first, second) = (UUID.random(), UUID.random())
        func name(_ command: UUID, _ position: Int64 = 7, _ type: String = type) -> String {
            SignalName.make(stream: stream, position: position, command: command, type: type)
        }
        #expect(name(first) == name(first))
        #expect(Set([name(first), name(second), name(first, 8), name(first, 7, "b")]).count == 4)
    }
}
