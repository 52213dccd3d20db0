import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

/// Something that is used up by a request, ready to be used.
struct OnceOnly: Sendable {
    let world: SignInWorld
    var log: WatchedLog { world.log }
    /// Whether the caller hears that it is used up.
    var isTold = true
    /// Sends the request that uses it up: each time the very same.
    let use: @Sendable () async throws -> Response
}

/// All that a request to a realm can use up.
enum SingleUseItem: String, CaseIterable, CustomTestStringConvertible {
    case refreshToken = "refresh token"
    case mailedCode = "mailed code"
    case mailedCodeOnPage = "mailed code on a page"
    case magicLink = "magic link"
    case authorizationCode = "authorization code"
    case tenantCode = "code of a tenant's app"
    case deviceCode = "device code"
    case passkeySignIn = "passkey sign-in"
    case passkeyEnrolment = "passkey enrolment"
    case invitation
    case sessionCode = "session code"
    case timeCode = "code of an authenticator app"
    case recoveryCode = "recovery code"
    case storeCertification = "certification by a store"
    case mailedCertification = "certification by a mailed code"
    case passphraseLink = "link to a new passphrase"
    case ownerToken = "token by which an owner takes a realm over"
    case ownerLink = "link that signs an owner in"
    case ownerMove = "link that moves an owner to another address"

    var testDescription: String { rawValue }

    /// What came before it, such as a page that was just shown, has brought all into the cache that it needs.
    var isKnownBefore: Bool {
        switch self {
        case .mailedCodeOnPage, .passphraseLink, .ownerToken, .ownerLink, .ownerMove: true
        case .refreshToken, .mailedCode, .magicLink, .authorizationCode, .tenantCode, .deviceCode,
            .passkeySignIn, .passkeyEnrolment, .invitation, .sessionCode, .timeCode,
            .recoveryCode, .storeCertification, .mailedCertification:
            false
        }
    }

    func prepare() async throws -> OnceOnly {
        switch self {
        case .refreshToken:
            // Without leeway the token alone would be good for nothing.
            let world = try await SignInWorld([
                "registration": "jit_on_otp", "refresh_token_leeway": 0,
            ])
            let tokens = try await world.signIn("phone").json
            return OnceOnly(world: world) { try await world.refresh(tokens, "phone").response }
        case .mailedCode:
            let world = try await SignInWorld()
            _ = try await world.requestCode(["Email": "ann@example.org"])
            let code = try await world.mailedCode()
            return OnceOnly(world: world) { try await world.redeem(code).response }
        case .mailedCodeOnPage: return try await mailedCodeOnPage()
        case .magicLink:
            let world = try await SignInWorld()
            _ = try await world.join()
            _ = try await world.requestLink(["Email": "ann@example.org"])
            let link = try await world.mailedLink()
            return OnceOnly(world: world) { try await world.redeem(link: link).response }
        case .authorizationCode:
            let world = try await AuthorizeWorld()
            try await world.signIn()
            let code = try await world.code()
            return OnceOnly(world: world.world) { try await world.redeem(code).response }
        case .tenantCode: return try await tenantCode()
        case .deviceCode: return try await deviceCode()
        case .passkeySignIn:
            let passkeys = try await PasskeyWorld()
            let key = try SoftKey(of: passkeys.account)
            #expect(try await passkeys.enroll(key).status.code < 300)
            let begun = try await passkeys.begin()
            let assertion = try key.assertion(begun)
            return OnceOnly(world: passkeys.world) {
                try await passkeys.redeem(begun.id, assertion).response
            }
        case .passkeyEnrolment:
            let passkeys = try await PasskeyWorld()
            let key = try SoftKey(of: passkeys.account)
            let begun = try await passkeys.beginEnrollment()
            let attestation = try key.attestation(begun)
            return OnceOnly(world: passkeys.world) {
                try await passkeys.enroll(begun, attestation).response
            }
        case .invitation: return try await invitation()
        case .sessionCode: return try await sessionCode()
        case .timeCode:
            return try await secondFactor { app, _, world in try app.code(at: world.clock) }
        case .recoveryCode:
            return try await secondFactor { _, recovery, _ in try #require(recovery.first) }
        case .storeCertification:
            let flagship = try await FlagshipWorld()
            let app = try await flagship.register()
            let device = try AppleDevice(flagship.apple)
            let attestation = try device.attestation(try await flagship.challenge(app)).json
            return OnceOnly(world: flagship.world) {
                try await flagship.attest(app, attestation).response
            }
        case .mailedCertification: return try await mailedCertification()
        case .passphraseLink: return try await passphraseLink()
        case .ownerToken: return try await ownerToken()
        case .ownerLink: return try await ownerLink()
        case .ownerMove: return try await ownerMove()
        }
    }

    private func ownerToken() async throws -> OnceOnly {
        let flagship = try await FlagshipWorld()
        let app = try await flagship.certified()
        return OnceOnly(world: flagship.world) { try await flagship.onboard(app).response }
    }

    private func ownerLink() async throws -> OnceOnly {
        let (flagship, app) = try await FlagshipWorld.linked()
        _ = try await flagship.requestLink()
        let code = try await flagship.magicCode()
        return OnceOnly(world: flagship.world) {
            try await flagship.redeemLink(app, code).response
        }
    }

    private func ownerMove() async throws -> OnceOnly {
        let flagship = try await FlagshipWorld()
        let access = try await flagship.onboard(try await flagship.certified()).json["access_token"]
        let asked = try await flagship.send(
            .post, "/settings/email",
            json: ["passphrase": .string(FlagshipWorld.hash), "email": "camille@example.net"],
            bearer: try #require(access?.string))
        #expect(asked.status == .noContent)
        let issued = try #require(try await flagship.happened("otp.issued").last)
        let code = try #require(issued.open["otp"]?.string.flatMap { UUID($0) })
        let world = flagship.world
        let link = Request(
            method: .get, path: "/settings/email/confirm",
            query: "token=\(world.mint.ownerMove(code))", headers: ["Host": "id.acme.example"],
            body: [], source: "203.0.113.7", id: "request-9")
        return OnceOnly(world: world) { await world.router.respond(to: link) }
    }

    private func form(
        _ path: String, _ fields: [(name: String, value: String)], of browser: PageBrowser
    ) -> Request {
        let cookies = browser.cookies.sorted { $0.key < $1.key }
        return Request(
            method: .post, path: path, query: nil,
            headers: [
                "Host": "id.acme.example", "Content-Type": "application/x-www-form-urlencoded",
                "Cookie": cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; "),
            ], body: Array(Form.encode(fields).utf8), source: "203.0.113.7", id: "request-9")
    }

    private func passphraseLink() async throws -> OnceOnly {
        let world = try await SignInWorld([
            "registration": "jit_on_otp", "login_passphrase": true,
        ])
        let browser = PageBrowser(world)
        try await browser.signIn()
        try await browser.get("/passphrase/forgotten")
        try await browser.submit("/passphrase/forgotten", [("email", "ann@example.org")])
        let events = try await world.log.events(from: 1, limit: .max, in: world.realm)
        let issued = events.compactMap { event in
            if case .issued(let link)? = MailedLinkEvent(event) { link } else { nil }
        }
        try await browser.get(world.mint.address(of: try #require(issued.last)).placeOnSite)
        let request = form(
            "/passphrase/reset",
            [
                ("token", try #require(browser.value(of: "token"))),
                ("passphrase", "seven purple otters dance"),
                ("form", try #require(browser.token)),
            ], of: browser)
        return OnceOnly(world: world) { await world.router.respond(to: request) }
    }

    private func mailedCodeOnPage() async throws -> OnceOnly {
        let world = try await SignInWorld()
        let browser = PageBrowser(world)
        try await browser.get("/login")
        try await browser.askForCode()
        let digits = try await browser.code()
        let token = try #require(browser.token)
        var form = browser.returnTarget
        form += [("email", "ann@example.org"), ("code", digits), ("form", token)]
        let request = self.form("/login/code", form, of: browser)
        return OnceOnly(world: world) { await world.router.respond(to: request) }
    }

    private func tenantCode() async throws -> OnceOnly {
        let site = try await AuthorizeWorld(["profile": "verify"])
        try await site.registerTenant()
        try await site.signIn()
        let exchange = try await site.tenantExchange()
        return OnceOnly(world: site.world) { try await site.world.send(exchange).response }
    }

    private func deviceCode() async throws -> OnceOnly {
        let grant = "urn:ietf:params:oauth:grant-type:device_code"
        let world = try await SignInWorld()
        try await world.register(
            "television",
            [
                "client_name": "Television", "token_endpoint_auth_method": "none",
                "grant_types": [.string(grant), "refresh_token"],
            ])
        let token = try #require(try await world.signIn("phone").json["access_token"]?.string)
        let device = try await world.post(
            "/connect/deviceauthorization",
            form: [("client_id", "television"), ("scope", "openid")]
        ).json
        let decided = try await world.call(
            .post, "/api/account/device", bearer: token,
            ["UserCode": device["user_code"] ?? .null, "Approve": true])
        #expect(decided.status.code < 300, "\(decided.json)")
        let code = try #require(device["device_code"]?.string)
        return OnceOnly(world: world) {
            try await world.post(
                "/connect/token",
                form: [
                    ("grant_type", grant), ("client_id", "television"), ("device_code", code),
                ]
            ).response
        }
    }

    private func invitation() async throws -> OnceOnly {
        let world = try await SignInWorld(["registration": "invite_code"])
        let invite = try await world.inviteForAll()
        return OnceOnly(world: world, isTold: false) {
            let answer = try await world.requestCode([
                "Email": "ann@example.org", "InviteCode": .string(invite.code),
            ])
            let mailed = try await world.events().count { $0 == "otp.issued" }
            // Everybody hears the same: what counts is that it brought one code, and no other.
            guard answer.status == .ok, mailed != 1 else { return answer.response }
            return Response(status: .badRequest)
        }
    }

    private func sessionCode() async throws -> OnceOnly {
        let flagship = try await FlagshipWorld()
        let first = try await flagship.register("First")
        _ = try await flagship.onboard(first)
        let code = try #require(try await flagship.login(first).json["session_code"]?.string)
        let request = InstallationRequest(app: try await flagship.register())
        let world = flagship.world
        let sent = Request(
            method: .get, path: "/auth/authorize",
            query: Form.encode(request.pairs + [("session_code", code)]),
            headers: ["Host": "id.acme.example", "Accept": "text/html"], body: [],
            source: "203.0.113.7", id: "request-9")
        return OnceOnly(world: world) {
            let answer = await world.router.respond(to: sent)
            // Without a session it leads on as well, to the page to sign in on.
            let isSignedIn = answer.headers.all("Set-Cookie").contains {
                $0.contains("\(PageCookie.session.rawValue)=")
            }
            return isSignedIn || answer.status.code >= 400 ? answer : Response(status: .badRequest)
        }
    }

    private func secondFactor(
        _ choose: (Authenticator, [String], SignInWorld) throws -> String
    ) async throws -> OnceOnly {
        let world = try await SignInWorld()
        let (app, recovery) = try await world.enroll(try await world.token())
        let code = try await world.mailCode()
        let second = try choose(app, recovery, world)
        return OnceOnly(world: world) {
            try await world.redeem(code: code, totp: second).response
        }
    }

    private func mailedCertification() async throws -> OnceOnly {
        let flagship = try await FlagshipWorld()
        let first = try await flagship.register("First")
        _ = try await flagship.onboard(first)
        let session = try #require(try await flagship.login(first).json["session_code"]?.string)
        let request = InstallationRequest(app: try await flagship.register())
        let browser = try await flagship.browser(session, at: request.place)
        try await browser.follow()
        let digits = try await flagship.mailedDigits()
        let token = try #require(browser.value(of: "token"))
        let app = request.app
        return OnceOnly(world: flagship.world) {
            try await flagship.send(
                .post, "/auth/clients/\(app.id)/flagship",
                form: [("code", digits), ("token", token)]
            ).response
        }
    }
}
