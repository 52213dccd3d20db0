import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `An owner who forgot the passphrase` {
    private static let chosen = "seven purple otters dance"

    private func world() async throws -> (FlagshipWorld, TestInstallation) {
        let world = try await FlagshipWorld([
            "rate_limits": [
                "password-reset": ["target": .null], "owner-sign-in": ["target": .null],
                "installation": ["source": .null, "target": .null],
            ]
        ])
        let app = try await world.certified()
        _ = try await world.onboard(app)
        return (world, app)
    }

    private func renewal(_ world: FlagshipWorld) async throws -> PageBrowser {
        let browser = try await world.page("/auth/passphrase_reset?hideBackButton=true")
        try await browser.submit("/auth/passphrase_reset")
        #expect(browser.answer?.status == .ok)
        try await browser.get(try await world.mailedLink(.passphraseReset).placeOnSite)
        return browser
    }

    private func renew(
        _ browser: PageBrowser, _ fields: [(name: String, value: String)]
    ) async throws -> Answered {
        try await browser.submit(
            "/auth/passphrase_renew",
            [("passphrase_reset_token", browser.value(of: "passphrase_reset_token") ?? "")]
                + fields)
    }

    @Test
    func `COZ-24: an owner resets a forgotten passphrase by a mailed link, ending all sessions`()
        async throws
    {
        let (world, app) = try await world()
        let tokens = try await world.login(app)
        let access = try #require(tokens.json["access_token"]?.string)
        let browser = try await renewal(world)
        #expect(browser.shows("Choose a passphrase"))
        let done = try await renew(
            browser, [("passphrase", "another hash of a device"), ("iterations", "100000")])
        #expect(done.status == .seeOther)
        #expect(browser.place == "/auth/login")
        #expect(try await world.login(app).status == .unauthorized)
        #expect(try await world.login(app, "another hash of a device").status == .ok)
        #expect(try await world.sessionCode(access).json["error"] == "Invalid JWT token")
        let refresh = try #require(tokens.json["refresh_token"]?.string)
        // The one text on which the app takes itself for signed out.
        let over = try await world.refresh(app, refresh)
        #expect(over.status == .badRequest)
        #expect(over.json == ["error": "the client must be registered"])
        let other = try await world.certified("Other")
        #expect(
            try await world.refresh(other, refresh).json["error"] == "invalid refresh token")
        #expect(
            try await world.send(.get, "/public/prelogin").json["KdfIterations"] == 100_000)
        // He is told.
        #expect(try await world.happened("passphrase.derived").last?.open["mail"] != nil)
        #expect(
            try await renew(browser, [("passphrase", "one more hash, typed")]).status != .seeOther)
    }

    @Test
    func `COZ-24: an owner's reset link is good for fifteen minutes, beside newer links`()
        async throws
    {
        let (world, _) = try await world()
        _ = try await renewal(world)
        let first = try await world.mailedLink(.passphraseReset).placeOnSite
        let browser = try await renewal(world)
        #expect(try await world.page(first).answer?.status == .ok)
        world.world.clock.advance(seconds: MailedLink.lifetime)
        #expect(
            try await renew(browser, [("passphrase", "another hash of a device")]).status
                == .badRequest)
        for bad in ["", "zz", String(repeating: "0", count: 96)] {
            let answer = try await world.page("/auth/passphrase_renew?token=\(bad)").answer
            #expect(answer?.status == .badRequest)
        }
        #expect(try await world.happened("mailed_link.used").isEmpty)
    }

    @Test func `COZ-24: a reset link used fifty times at once sets one passphrase`() async throws {
        let (world, _) = try await world()
        let browser = try await renewal(world)
        let token = try #require(browser.value(of: "passphrase_reset_token"))
        let statuses = await browser.together(
            50, "/auth/passphrase_renew",
            [("passphrase_reset_token", token), ("passphrase", "another hash of a device")])
        #expect(statuses.count { $0 == .seeOther } == 1)
        #expect(try await world.happened("account.stamp_rotated").count == 1)
    }

    @Test func `COZ-24: an owner resets the passphrase without scripts, by the same rules`()
        async throws
    {
        let (world, app) = try await world()
        let browser = try await renewal(world)
        #expect(try await renew(browser, [("typed", "short")]).status == .badRequest)
        #expect(browser.shows("too short"))
        #expect(
            try await renew(
                browser, [("typed", Self.chosen), ("iterations", "100000"), ("hint", "a dance")]
            ).status == .seeOther)
        let hash = try DevicePassphrase.hash(
            SecretBytes(Array(Self.chosen.utf8)), salt: Array("me@id.acme.example".utf8), rounds: 2)
        #expect(try await world.login(app, hash).status == .ok)
    }

    @Test func `COZ-24: an owner's hint is mailed twice an hour and described`() async throws {
        let (world, app) = try await world()
        let token = try #require(try await world.login(app).json["access_token"]?.string)
        func hint(_ text: JSON) async throws -> Status {
            try await world.send(.put, "/settings/hint", json: ["hint": text], bearer: token).status
        }
        #expect(try await hint(1) == .badRequest)
        #expect(try await hint(.string(String(repeating: "a", count: 501))) == .badRequest)
        #expect(try await hint("the dancing ones") == .noContent)
        #expect(
            try await world.send(.put, "/settings/hint", json: ["hint": "x"]).status
                == .unauthorized)
        for _ in 0..<2 {
            #expect(try await world.send(.post, "/auth/hint").status == .ok)
        }
        #expect(try await world.send(.post, "/auth/hint").status == .tooManyRequests)
        let asked = try await world.happened("passphrase.hint_requested")
        #expect(asked.count == 2)
        guard case .opened(let fields)? = asked.first?.personal else {
            Issue.record("The hint stands in the open.")
            return
        }
        #expect(fields["hint"] == "the dancing ones")
        // None to be mailed: it sounds the same.
        #expect(try await hint("") == .noContent)
        world.world.clock.advance(seconds: 7_200)
        #expect(try await world.send(.post, "/auth/hint").status == .ok)
        #expect(try await world.happened("passphrase.hint_requested").count == 2)
    }

    @Test func `COZ-24: password managers find the reset page at the well-known address`()
        async throws
    {
        let (world, _) = try await world()
        let answer = try await world.page("/.well-known/change-password").answer
        #expect(answer?.status == .found)
        #expect(answer?.response.headers["Location"] == "/auth/passphrase_reset")
    }

    @Test func `COZ-24: an app may force a passphrase only where the owner has none`() async throws
    {
        let (world, app) = try await world()
        let token = try #require(try await world.login(app).json["access_token"]?.string)
        let members: JSON = [
            "new_passphrase": "another hash of a device", "iterations": 100_000, "force": true,
        ]
        func force() async throws -> Status {
            try await world.send(.put, "/settings/passphrase", json: members, bearer: token).status
        }
        #expect(try await force() == .unauthorized)
        #expect(try await world.login(app).status == .ok)
        try await world.world.carryOut(
            RemovePassphrase(
                account: world.account,
                session: SignedIn(client: nil, app: nil, at: world.world.clock.next()),
                mail: UUID.random(), now: world.world.clock.next()))
        #expect(try await force() == .noContent)
        #expect(try await world.login(app, "another hash of a device").status == .ok)
    }
}

@Suite struct `An owner who takes the realm over` {
    @Test
    func `COZ-17: an owner who takes the realm over is mailed the link twice an hour at most`()
        async throws
    {
        let world = try await FlagshipWorld()
        for _ in 0..<2 {
            #expect(try await world.send(.post, "/auth/onboarding/resend").status == .ok)
        }
        #expect(
            try await world.send(.post, "/auth/onboarding/resend").status == .tooManyRequests)
        #expect(try await world.happened("owner.invited").count == 2)
    }

    @Test func `COZ-17: an owner who takes the realm over sets a passphrase and is signed in`()
        async throws
    {
        let world = try await FlagshipWorld()
        let wrong = try await world.page("/auth/passphrase?registerToken=00")
        #expect(wrong.answer?.status == .badRequest)
        let browser = try await world.page(
            "/auth/passphrase?registerToken=\(world.registerToken)")
        #expect(browser.answer?.status == .ok)
        try await browser.submit(
            "/settings/passphrase",
            [
                ("register_token", browser.value(of: "register_token") ?? ""),
                ("passphrase", FlagshipWorld.hash), ("iterations", "650000"),
            ])
        #expect(browser.place == "/account", "\(browser.page)")
        #expect(browser.cookies["__Host-urd"] != nil)
        #expect(try await world.login(try await world.certified()).status == .ok)
        let late = try await world.page("/auth/passphrase?registerToken=\(world.registerToken)")
        #expect(late.answer?.status == .badRequest)
        // Nobody waits any more.
        #expect(try await world.send(.post, "/auth/onboarding/resend").status == .ok)
        #expect(try await world.happened("owner.invited").isEmpty)
    }
}
