import EventSourcing
import HTTP
import Identity
import JSON
import Synchronization
import Testing
import Values

@testable import API

@Suite struct `The time in a realm` {
    private final class Hands: Sendable {
        let shown = Mutex(Timestamp(seconds: 1_795_000_000))
        let passed = Mutex(Duration.zero)
        let latest = Mutex<[RealmID: Timestamp]>([:])
    }

    private let hands = Hands()
    private let start = Timestamp(seconds: 1_795_000_000)

    private var time: RealmTime {
        let hands = hands
        return RealmTime(
            clock: { hands.shown.withLock { $0 } }, passed: { hands.passed.withLock { $0 } },
            latest: { realm in hands.latest.withLock { $0[realm] } })
    }

    private func pass(seconds: Int64) {
        hands.shown.withLock { $0 = $0.adding(seconds: seconds) }
        hands.passed.withLock { $0 += .seconds(seconds) }
    }

    @Test func `a realm's time is the clock's where nothing later is on record`() throws {
        let (acme, other) = (try #require(RealmID("acme")), try #require(RealmID("other")))
        let time = time
        #expect(time.now(in: acme) == start)
        hands.latest.withLock { $0[acme] = start.adding(seconds: -1) }
        #expect(time.now(in: acme) == start)
        hands.latest.withLock { $0[other] = start.adding(seconds: 3600) }
        #expect(time.now(in: acme) == start)
    }

    @Test func `a realm's time runs at half pace while the clock is behind, and never back`() throws
    {
        let acme = try #require(RealmID("acme"))
        let time = time
        hands.latest.withLock { $0[acme] = start.adding(seconds: 3600) }
        #expect(time.now(in: acme) == start.adding(seconds: 3600))
        pass(seconds: 600)
        #expect(time.now(in: acme) == start.adding(seconds: 3900))
        // What is on record meanwhile is no later.
        hands.latest.withLock { $0[acme] = start.adding(seconds: 3900) }
        pass(seconds: 600)
        #expect(time.now(in: acme) == start.adding(seconds: 4200))
        pass(seconds: 6000)
        #expect(time.now(in: acme) == start.adding(seconds: 7200))
        pass(seconds: 100)
        #expect(time.now(in: acme) == start.adding(seconds: 7300))
    }
}

@Suite struct `A clock that is set back an hour` {
    /// Something of later is on record.
    private func setBack(_ world: SignInWorld, after seconds: Int64) async throws {
        world.clock.advance(seconds: seconds)
        try await world.carryOut(RealmChange.setSettings(["display_name": "Acme, later"]))
        world.clock.advance(seconds: -3600)
    }

    @Test func `an expired code stays expired when the clock is set back an hour`() async throws {
        let world = try await SignInWorld()
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let code = try await world.mailedCode()
        try await setBack(world, after: 3600)
        #expect(try await world.redeem(code).json["error"] == "invalid_grant")
    }

    @Test func `an expired token and an ended session stay so when the clock is set back an hour`()
        async throws
    {
        let world = try await SignInWorld()
        let tokens = try await world.join()
        let access = try #require(tokens["access_token"]?.string)
        try await setBack(world, after: 3600)
        #expect(try await world.userInfo(access).status == .unauthorized)
        #expect(try await world.introspect(access) == ["active": false])
    }

    @Test func `expired codes stay expired on a node that only read the later time`() async throws {
        let world = try await SignInWorld()
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let code = try await world.mailedCode()
        try await setBack(world, after: 3600)
        let answer = await world.post(
            "/connect/token",
            form: [
                ("grant_type", "urn:cocoar:otp"), ("client_id", "phone"),
                ("username", "ann@example.org"), ("otp_code", code),
            ], at: world.otherNode())
        #expect(answer.json["error"] == "invalid_grant")
    }

    @Test func `tokens issued after the clock was set back are valid at once`() async throws {
        let world = try await SignInWorld()
        try await setBack(world, after: 3600)
        let tokens = try await world.join()
        let access = try #require(tokens["access_token"]?.string)
        #expect(try await world.userInfo(access).status == .ok)
        #expect(try await world.introspect(access)["active"] == true)
    }
}
