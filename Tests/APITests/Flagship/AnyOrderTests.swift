import EventSourcing
import Glibc
import HTTP
import Identity
import JSON
import LogTesting
import Synchronization
import Testing
import Values

@testable import API

@Suite struct `An uncertified app` {
    /// Two thousand steps each, because a world that has seen little is quicker. `make soak` walks through
    /// ten worlds.
    private static let worlds = 0..<(getenv("URD_LONG_TESTS") == nil ? 2 : 10)
    private static let steps = 2_000

    @Test(arguments: worlds)
    func `COZ-08: an uncertified app never gets all scopes, for any order of requests`(
        _ number: Int
    ) async throws {
        let seed = UInt64.random(in: .min ... .max)
        print("any order \(number): seed \(seed)")
        let thieves = try await Thieves(seed)
        for step in 0..<Self.steps {
            let answer = try await thieves.step(step)
            if answer?.json["scope"] == "*" {
                Issue.record("Somebody got everything: step \(step) of seed \(seed)")
                return
            }
        }
        let genuine = try #require(UUID(bytes: Hex.decode(thieves.good.id) ?? []))
        let opened = try await thieves.world.happened("session.opened")
        for event in opened where event.open["scope"] == ["*"] {
            #expect(event.open["client"] == .string(genuine.description), "seed \(seed)")
        }
        // Nor does anybody else open an app, and what apps have is never everything.
        let apps = opened.filter { $0.open["web_app"] != nil }
        #expect(apps.count >= 2, "seed \(seed)")
        for event in apps {
            #expect(event.open["client"] == .string(genuine.description), "seed \(seed)")
            #expect(event.actor == "client:\(thieves.good.id)", "seed \(seed)")
            #expect(event.open["scope"]?.array?.contains("*") == false, "seed \(seed)")
        }
        let openers = try await thieves.world.happened("session_code.issued").filter {
            $0.actor.hasPrefix("client:") && $0.actor != "client:\(thieves.good.id)"
        }
        #expect(openers.isEmpty, "seed \(seed)")
        // Some of them get in, as far as they may.
        #expect(opened.contains { $0.open["scope"] == ["files"] }, "seed \(seed)")
        #expect(
            try await thieves.world.happened("client.certified").count == 1, "seed \(seed)")
    }
}

/// What somebody can do who has everything but a store's word and the digits that are mailed for an app: he
/// may know the passphrase, read the links that are mailed, be the owner to a provider, and be signed in to
/// a web view.
private final class Thieves {
    let world: FlagshipWorld
    let good: TestInstallation
    private let device: AppleDevice
    private let browser: PageBrowser
    private let provider = StandIn()
    private var random: Splitmix
    private var thieves: [TestInstallation]
    private var codes = ["x"]
    private var challenges = ["x"]
    private var refreshes = ["x"]
    private var links = ["x"]
    private var delegated = ["x"]
    private var used: [JSON] = [[:]]
    /// Tokens that are not everything: of a lesser scope, and what web apps and konnectors are given.
    private var lesser = ["x"]

    init(_ seed: UInt64) async throws {
        random = Splitmix(state: seed)
        world = try await FlagshipWorld(
            [
                "owner_links": true,
                "rate_limits": [
                    "installation": ["source": .null, "target": .null],
                    "owner-mail": ["target": .null],
                    "certification": ["target": .null],
                    "owner-sign-in": ["source": .null, "target": .null],
                    "oauth-token": ["source": .null],
                    "owner-link": ["target": .null], "owner-link-check": ["target": .null],
                    "provider": ["source": .null],
                ],
            ], callProviders: provider.calls)
        provider.clock.withLock { [world] in $0 = world.world.clock }
        try await world.world.carryOut(ProviderChange.configure(.standIn(tokens: true)))
        try await world.world.link(world.account)
        good = try await world.certified("Genuine")
        let access = try await world.onboard(good).json["access_token"]?.string
        try await world.add(FlagshipWorld.drive)
        try await world.add(FlagshipWorld.bank)
        let opened = try await world.open("drive", access).json["data"]?["attributes"]
        lesser.append(try #require(opened?["Token"]?.string))
        lesser.append(try #require(try await world.konnectorToken("bank", access).json.string))
        device = try AppleDevice(world.apple)
        thieves = [try await world.register("Thief")]
        let view = try #require(
            try await world.login(thieves[0]).json["session_code"]?.string)
        browser = try await world.browser(
            view, at: InstallationRequest(app: thieves[0], scope: "files").place)
    }

    private func any<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    func step(_ step: Int) async throws -> Answered? {
        // Five minutes are soon over.
        if step % 20 == 0, browser.place?.hasPrefix("/auth/login") == true {
            let code = try await world.login(thieves[0]).json["session_code"]?.string ?? "x"
            let place = InstallationRequest(app: thieves[0], scope: "files").place
            try await browser.get("\(place)&session_code=\(code)")
        }
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1: return try await certify(step, any(thieves))
        case 2, 3: return try await askForTokens(step, any(thieves))
        default: return try await openApps()
        }
    }

    /// With whatever he has, at the routes that the flagship app alone may ask.
    private func openApps() async throws -> Answered? {
        let token = any(lesser + refreshes + codes + [any(thieves).token])
        let (method, path) = any([
            (HTTP.Method.get, "/apps/drive/open"), (.post, "/auth/tokens/konnectors/bank"),
            (.post, "/auth/session_code"), (.get, "/settings/clients"),
            (.get, "/settings/clients-usage"), (.delete, "/settings/clients/\(good.id)"),
            (.put, "/settings/passphrase"), (.put, "/settings/instance/auth_mode"),
        ])
        if Int.random(in: 0..<4, using: &random) == 0 {
            try await browser.get(
                any([
                    "/accounts/bank/start?slug=drive&state=x", "/accounts/bank/redirect?state=x",
                    "/apps/drive/start", "/settings/clients/limit-exceeded",
                ]))
            return nil
        }
        let body: JSON? = method == .put ? ["auth_mode": "basic", "iterations": 100_000] : nil
        let answer = try await world.send(method, path, json: body, bearer: token)
        #expect(
            [400, 401, 403].contains(answer.status.code), "\(path) with what is not everything")
        return answer
    }

    private func certify(_ step: Int, _ thief: TestInstallation) async throws -> Answered? {
        switch Int.random(in: 0..<8, using: &random) {
        case 0 where thieves.count < 6: thieves.append(try await world.register("Thief"))
        case 0, 1: challenges.append(try await world.challenge(thief))
        case 2:
            // A genuine phone vouches, but for another installation.
            used.append(try device.attestation(try await world.challenge(good)).json)
        case 3:
            var evil = try AppleDevice(world.apple)
            evil.app = "TEAMTEAM01.io.example.evil"
            return try await world.attest(thief, evil.attestation(any(challenges)).json)
        case 4: return try await world.attest(thief, any(used))
        case 5:
            return try await world.attest(
                thief, world.google.attestation(any(challenges), "a.b.c.d.e"))
        case 6:
            return try await world.send(
                .post, "/auth/clients/\(thief.id)/flagship",
                form: [("code", "000000"), ("token", browser.value(of: "token") ?? "x")])
        default:
            return try await world.send(
                .put, "/auth/register/\(thief.id)",
                json: thief.update([
                    "client_name": .string("Thief \(step)"), "flagship": true,
                    "certified_from_store": true, "scope": "*", "consent": "none",
                ]), bearer: thief.token)
        }
        return nil
    }

    private func askForTokens(_ step: Int, _ thief: TestInstallation) async throws -> Answered? {
        switch Int.random(in: 0..<12, using: &random) {
        case 8: return try await redeemLink(thief)
        case 9, 10: return try await showProvider(thief)
        case 0: return try await world.login(thief)
        case 1: return try await world.refresh(thief, any(refreshes))
        case 2:
            let answer = try await world.redeem(thief, any(codes))
            if let access = answer.json["access_token"]?.string { lesser.append(access) }
            return answer
        case 3:
            try await browser.get(
                InstallationRequest(app: thief, scope: any(["*", "files"])).place)
        case 4, 5:
            let app = step % 2 == 0 ? thief : good
            let scope = app.id == good.id ? "*" : any(["*", "files", "* a"])
            let request = InstallationRequest(app: app, scope: scope)
            try await browser.get(request.place)
            let decided = try await browser.submit(
                "/auth/authorize", request.pairs + [("decision", "allow")])
            if decided.status == .found {
                codes.append(try FlagshipWorld.code(in: decided.response.headers["Location"]))
            }
        case 6:
            let tokens = try await world.login(good)
            refreshes.append(try #require(tokens.json["refresh_token"]?.string))
            return try await world.sessionCode(any(refreshes + codes))
        default:
            return try await world.send(
                .post, "/settings/passphrase/flagship",
                json: thief.members([
                    "register_token": .string(world.registerToken),
                    "passphrase": .string(FlagshipWorld.hash), "iterations": 100_000,
                ]))
        }
        return nil
    }
}

extension Thieves {
    private func redeemLink(_ thief: TestInstallation) async throws -> Answered? {
        if Bool.random(using: &random) {
            _ = try await world.requestLink()
            links.append(try await world.magicCode())
        }
        return try await world.redeemLink(thief, any(links))
    }

    private func showProvider(_ thief: TestInstallation) async throws -> Answered? {
        if Bool.random(using: &random) {
            let id = UUID.random()
            try await world.world.carryOut(
                IssueDelegatedCode(
                    code: id,
                    terms: DelegatedCodeTerms(
                        identity: world.world.mint.identity(
                            "248289761001", at: StandIn.issuer), upstream: nil,
                        provider: "corporate",
                        expiresAt: world.world.clock.next().adding(seconds: 3_600))))
            delegated.append(world.world.mint.delegatedCode(id))
        }
        let shown: JSONObject = any([
            ["code": .string(any(delegated))], ["id_token": .string(provider.idToken())],
            ["oidc_token": .string(any(delegated))],
        ])
        return try await world.send(
            .post, "/oidc/access_token",
            json: thief.members(
                shown.merging(["scope": .string(any(["*", "files", "* a", ""]))]) { $1 }))
    }
}

/// Small, and the same everywhere.
private struct Splitmix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
