import HTTP
import Identity
import JSON
import Testing

@testable import API

/// What strangers can do to the owner of a realm of the flagship profile.
enum OwnerBudgets {
    private static let home = "198.51.100.1"

    private static func post(
        _ flagship: FlagshipWorld, _ path: String, from source: String, _ members: JSONObject = [:]
    ) async -> Answered {
        await flagship.world.ask(path, json: members, from: source)
    }

    static func signIns() async throws {
        // With the rates as they are.
        let flagship = try await FlagshipWorld(["rate_limits": [:], "owner_links": true])
        let app = try await flagship.certified()
        let tokens = try await flagship.onboard(app).json
        let access = try #require(tokens["access_token"]?.string)
        let refresh = try #require(tokens["refresh_token"]?.string)
        func signIn() async throws -> Status? {
            let browser = PageBrowser(flagship.world)
            browser.source = home
            try await browser.get("/auth/login")
            return try await browser.submit(
                "/auth/login", [("passphrase", FlagshipWorld.hash), ("redirect", "/account")]
            ).status
        }
        /// What costs no guess.
        func fill(from source: String) async throws -> Answered? {
            let stranger = PageBrowser(flagship.world)
            stranger.source = source
            try await stranger.get("/auth/login")
            return try await firstRefusal(within: 520) { _ in
                try await stranger.get("/auth/login")
                return try await stranger.submit(
                    "/auth/twofactor", [("two-factor-token", "x"), ("two-factor-passcode", "1")])
            }
        }
        // One network uses up half, a second one the rest.
        #expect(try await fill(from: network(1)) != nil)
        #expect(try await signIn() == .seeOther)
        #expect(try await fill(from: network(2)) != nil)
        #expect(try await signIn() == .tooManyRequests)
        // A session code counts for itself, and a link only where it is wrong; a signed-in app goes on.
        let code = try #require(try await flagship.sessionCode(access).json["session_code"]?.string)
        let device = InstallationRequest(app: app)
        _ = try await flagship.browser(code, at: device.place)
        _ = try await flagship.requestLink()
        let byLink = try await flagship.redeemLink(app, try await flagship.magicCode())
        #expect(byLink.status == .ok, "\(byLink.json)")
        #expect(try await flagship.refresh(app, refresh).status == .ok)
        flagship.world.clock.advance(seconds: 60)
        #expect(try await signIn() == .seeOther)
        try await installations(flagship)
    }

    private static func installations(_ flagship: FlagshipWorld) async throws {
        flagship.world.clock.advance(seconds: 7200)
        func register(from source: String) async -> Status {
            await post(
                flagship, "/auth/register", from: source,
                ["redirect_uris": ["cozy://"], "client_name": "Phone", "software_id": "amiral"]
            ).status
        }
        for turn in 0..<25 { #expect(await register(from: network(1)) == .created, "\(turn)") }
        #expect(await register(from: network(1)) == .notFound)
        #expect(await register(from: home) == .created)
        for _ in 0..<25 { _ = await register(from: network(2)) }
        #expect(await register(from: home) == .notFound)
    }

    static func mails() async throws {
        let (flagship, app) = try await FlagshipWorld.linked()
        let link = try await firstRefusal(within: 32) { turn in
            await post(flagship, "/auth/magic_link", from: network(turn))
        }
        #expect(link != nil)
        // The owner has the mails that were sent, and the last one is good.
        #expect(try await flagship.redeemLink(app, try await flagship.magicCode()).status == .ok)
        let hint = try await firstRefusal(within: 3) { turn in
            await post(flagship, "/auth/hint", from: network(turn))
        }
        #expect(hint != nil)
        #expect(try await flagship.login(app).status == .ok)
        let invitation = try await FlagshipWorld()
        let again = try await firstRefusal(within: 3) { turn in
            await post(invitation, "/auth/onboarding/resend", from: network(turn))
        }
        #expect(again != nil)
        // What is counted by what the owner's own secrets open is filled by who has those.
        #expect(RateTable.standard[.ownerMail, .target]?.burst == 20)
        #expect(RateTable.standard[.certification, .target]?.burst == 30)
    }

    static func networks() async throws {
        let flagship = try await FlagshipWorld()
        func ask(_ path: String, from source: String) async -> Status {
            await flagship.world.ask(path, json: [:], from: source).status
        }
        let receipts = "/api/messages/receipts/whatsapp"
        for (path, most) in [("/oidc/access_token", 210), (receipts, 1300)] {
            let refused = try await firstRefusal(within: most) { _ in
                await flagship.world.ask(path, json: [:], from: network(1))
            }
            #expect(refused != nil, "\(path)")
            #expect(await ask(path, from: network(1)) == .tooManyRequests)
            #expect(await ask(path, from: home) != .tooManyRequests)
        }
    }

    static func notifications() async throws {
        let notified = try await NotifiedWorld()
        let refused = try await firstRefusal(within: 31) { _ in try await notified.send() }
        #expect(refused != nil)
        // The owner's devices, and nothing else of the owner.
        #expect(try await notified.world.login(notified.sender).status == .ok)
        #expect(try await notified.world.sessionCode(notified.access).status == .created)
        notified.world.world.clock.advance(seconds: 121)
        #expect(try await notified.send().status == .created)
    }
}
