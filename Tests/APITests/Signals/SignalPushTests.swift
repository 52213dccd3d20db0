import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import ReadModels
import Testing
import Values

@testable import API

@Suite struct `The signals that are pushed` {
    private let ann = UUID(high: 0x0193_a0e7_5e0c_7000, low: 0x9000_0000_0000_0001)
    private let bob = UUID(high: 0x0193_a0e7_5e0c_7000, low: 0x9000_0000_0000_0002)

    @Test func `the signals of one account go one by one, in order, and other accounts beside`()
        async throws
    {
        let pusher = try await SignalPusher()
        let verification = try await pusher.posts()
        #expect(verification.count == 1)
        #expect(verification.first?.authorization == "Bearer b")
        #expect(verification.first?.endpoint == "https://siem.example/signals")
        #expect(try await pusher.settle(try #require(verification.first), 202))
        let sessions = [
            try await pusher.ours.session(of: ann), try await pusher.ours.session(of: ann),
        ]
        for session in sessions { try await pusher.ours.end(session, of: ann) }
        try await pusher.ours.end(try await pusher.ours.session(of: bob), of: bob)
        func told(_ post: SignalPost) throws -> String? {
            try JWTWorld.claims(post.token)["sub_id"]?["session"]?["id"]?.string
        }
        let first = try await pusher.posts()
        #expect(first.count == 2)
        #expect(try told(try #require(first.first)) == sessions[0].description)
        #expect(try await pusher.posts().map(\.token) == first.map(\.token))
        #expect(try await pusher.settle(try #require(first.first), 202))
        let next = try await pusher.posts()
        #expect(try next.compactMap(told).contains(sessions[1].description))
    }

    @Test func `a receiver's refusal of one signal drops it, and its refusal of keys does not`()
        async throws
    {
        let pusher = try await SignalPusher()
        let first = try #require(try await pusher.posts().first)
        for error in ["authentication_failed", "invalid_key"] {
            #expect(try await !pusher.settle(first, 400, error: error))
        }
        #expect(try await !pusher.settle(first, 400))
        #expect(try await !pusher.settle(first, 500, error: "invalid_request"))
        #expect(try await pusher.posts().map(\.token) == [first.token])
        #expect(try await pusher.settle(first, 400, error: "invalid_request"))
        #expect(try await pusher.posts().isEmpty)
    }

    @Test
    func
        `a receiver that cannot be reached is asked again later, and a third refusal of keys pauses`()
        async throws
    {
        let pusher = try await SignalPusher()
        let realm = pusher.ours.world.realm
        let post = try #require(try await pusher.posts().first)
        let refusal = SignalReceipt(
            status: 400, body: JSON.object(["err": "invalid_key"]).canonical(), retryAfter: nil)
        var reasons: [String?] = []
        for _ in 0..<3 {
            reasons.append(
                try await pusher.feed.postpone(
                    [(post, refusal)], othersSettled: false, of: pusher.stream, in: realm))
        }
        #expect(reasons[0] == nil)
        #expect(reasons[1] == nil)
        #expect(reasons[2] != nil)
        guard case .wait(let rest) = try await pusher.feed.work(for: pusher.stream, in: realm)
        else {
            Issue.record("It is pushed to at once.")
            return
        }
        #expect(rest.longest > .seconds(50) && rest.position == nil)
    }

    @Test func `a client that may not receive any more is sent nothing`() async throws {
        let pusher = try await SignalPusher()
        let world = pusher.ours.world
        let client = try #require(
            try await MemoryQueries(log: world.log).ask(
                KnownClient.byClientID, "siem", in: world.realm))
        try await world.carryOut(ClientChange.disable(client.id))
        #expect(try await pusher.posts().isEmpty)
        try await world.carryOut(ClientChange.enable(client.id))
        #expect(try await pusher.posts().count == 1)
    }

    @Test func `a stream that the transmitter paused tells so first when it is resumed`()
        async throws
    {
        let pusher = try await SignalPusher()
        try await pusher.ours.world.carryOut(
            SignalStreamChange.setStatus(
                pusher.stream, client: nil, status: .paused, reason: "Silence"))
        #expect(try await pusher.posts().isEmpty)
        try await pusher.ours.end(try await pusher.ours.session(of: ann), of: ann)
        try await pusher.ours.set("enabled", pusher.stream.description)
        var told: [String] = []
        while let post = try await pusher.posts().first {
            told.append(try pusher.kind(post))
            #expect(try await pusher.settle(post, 202))
        }
        #expect(told.contains("stream-updated"))
        #expect(told.last == "session-revoked")
    }
}
