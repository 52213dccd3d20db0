import EventSourcing
import HTTP
import Identity
import JSON
import Synchronization
import Testing
import Values

@testable import API

/// What a proof opens in a realm of the flagship profile.
enum Opening: String, CaseIterable {
    case passphraseBrowser = "browser, by the passphrase"
    case linkBrowser = "browser, by a mailed link"
    case webView = "web view of a certified app"
    case plainWebView = "web view of an app without certification"
    case linkWebView = "web view, by a mailed link"
    case openedPlace = "app's place, opened by an app"
    case handedPlace = "app's place, from a browser"
    case sessionCode = "session code of a certified app"
    case plainSessionCode = "session code of an app without certification"
    case handedCode = "session code from a browser"
    case browserCode = "authorization code of a browser"
    case webViewCode = "authorization code of a web view"
    case appSession = "session of an app, by the passphrase"
    case linkAppSession = "session of an app, by a mailed link"
    case linkBrowserSession = "session of an app, by a link's browser"
    case webViewSession = "session of an app, by a web view"
    case webAppToken = "token of a web app"
    case push = "push to a certified app"
    case plainPush = "push to an app without certification"
    case storeCertification = "certification by a store"
    case mailedCertification = "certification by a mailed code"
    case delegatedCode = "delegated code of a provider"
    case providersToken = "ID token of a provider"

    /// A session at a provider is shown, and not anything of ours.
    var isOfProvider: Bool { self == .delegatedCode || self == .providersToken }
}

/// What may end it.
enum OpeningEnd: String, CaseIterable {
    case ownerMove = "move by owner's link"
    case administratorsMove = "move by administrator"
    case passphraseChanged = "passphrase changed"
    case passphraseReset = "passphrase reset"
    case loggedOut = "log-out everywhere"
    case disabled
    case deleted
    case certificationRevoked = "certification taken back"
    case deviceRevoked = "device revoked"
    case sessionEnded = "device's session ended"
    case browserEnded = "browser ended"
    case providerEnded = "provider's session ended"
    case deviceRemoved = "access of the device removed"
    case otherRemoved = "access of the app let in removed"
}

/// A realm with its owner, their phone, and another device, by which the owner ends things.
struct OpeningWorld {
    let world: FlagshipWorld
    let provider = StandIn()
    /// By which most is opened.
    let phone: TestInstallation
    /// The phone's tokens, where it is certified.
    var access = ""
    let desk: TestInstallation
    let deskAccess: String
    /// The browser that something was opened by.
    var browser: PageBrowser?
    let isOfProvider: Bool
    /// The app of another device that was let in by it.
    var letIn: TestInstallation?
    /// Who stands for Google and Apple.
    private let providers: PushStandIn
    /// What the owner types now.
    var passphrase = FlagshipWorld.hash

    init(_ opening: Opening) async throws {
        world = try await FlagshipWorld(["owner_links": true], callProviders: provider.calls)
        let clock = world.world.clock
        provider.clock.withLock { $0 = clock }
        isOfProvider = opening.isOfProvider
        try await world.add(FlagshipWorld.drive)
        providers = try PushStandIn(world.world.clock)
        for provider in try providers.providers() {
            try await world.world.carryOut(PushProviderChange.set(provider))
        }
        desk = try await world.certify(
            world.registerDevice("Desk", nil, nil, NotifiedWorld.categories))
        deskAccess = try #require(try await world.onboard(desk).json["access_token"]?.string)
        switch opening {
        case .plainWebView, .plainSessionCode, .linkWebView, .mailedCertification:
            phone = try await world.register("Phone")
        case .push:
            phone = try await world.certify(
                world.registerDevice("Phone", "firebase", Self.deviceToken, nil))
        case .plainPush:
            phone = try await world.registerDevice("Phone", "firebase", Self.deviceToken, nil)
        default: phone = try await world.certified("Phone")
        }
        guard opening.isOfProvider else { return }
        try await world.world.carryOut(ProviderChange.configure(.standIn()))
        try await world.world.link(world.account)
    }

    private static let deviceToken = "t1"

    /// Whether a notification of now comes to the phone.
    func isPushed() async throws -> Bool {
        let id = UUID.random()
        let content = NotificationContent(title: "Hello", message: "World")
        do {
            try await world.world.carryOut(
                RequestNotification(
                    id: id, sender: .installation(try installation(desk)), account: world.account,
                    source: .random(), category: "plain", content: content, state: try digest(),
                    now: world.world.clock.next()))
        } catch RequestNotification.Rejection.notAllowed {
            return false
        }
        let (log, clock, standIn) = (world.world.log, world.world.clock, providers)
        let delivery = NotificationDelivery(
            events: log, queries: MemoryQueries(log: log),
            courier: PushCourier(transport: { standIn.respond($0) }, now: { clock.next() }),
            now: { clock.next() })
        standIn.forget()
        _ = try await delivery.attempt(id, in: world.world.realm)
        return standIn.taken.contains { $0.token == Self.deviceToken }
    }

    private func digest() throws -> SecretDigest {
        try #require(SecretDigest(Array(repeating: 1, count: 32)))
    }

    func installation(_ app: TestInstallation) throws -> UUID {
        try #require(Hex.decode(app.id).flatMap { UUID(bytes: $0) })
    }

    /// A cookie of the page where people sign in, or of an app's place.
    func isSignedIn(_ browser: PageBrowser, _ path: String = "/account") async throws -> Bool {
        try await browser.get(path).status == .ok
    }

    func linkBrowser() async throws -> PageBrowser {
        _ = try await world.requestLink()
        return try await world.page(try await world.mailedLink().placeOnSite)
    }

    func passphraseBrowser() async throws -> PageBrowser {
        let browser = PageBrowser(world.world)
        try await browser.get("/auth/login")
        try await browser.submit(
            "/auth/login", [("passphrase", passphrase), ("redirect", "/account")])
        return browser
    }

    /// Where people sign in, not at an app's place.
    func webView(_ code: String) async throws -> PageBrowser {
        let browser = world.browser()
        try await browser.get("/apps/drive/start?session_code=\(code)")
        return browser
    }

    func place(_ code: String) async throws -> PageBrowser {
        let browser = world.browser(at: "drive.id.acme.example")
        try await browser.get("/?session_code=\(code)")
        return browser
    }

    /// The code by which a browser comes to an app's place.
    func handedCode(_ browser: PageBrowser) async throws -> String {
        try await browser.get("/apps/drive/start")
        return String(try #require(browser.place?.split(separator: "=").last))
    }

    /// The code that an app of another device gets on the owner's page.
    func authorizationCode(
        _ browser: PageBrowser, for app: TestInstallation
    ) async throws -> String {
        let asked = InstallationRequest(app: app)
        try await browser.get(asked.place)
        let decided = try await browser.submit(
            "/auth/authorize", asked.pairs + [("decision", "allow")])
        return try FlagshipWorld.code(in: decided.response.headers["Location"])
    }

    mutating func signInPhone() async throws -> Answered {
        let tokens = try await world.login(phone)
        access = try #require(tokens.json["access_token"]?.string)
        return tokens
    }

    func plainCode() async throws -> String {
        try #require(try await world.login(phone).json["session_code"]?.string)
    }

    /// Certifies an app by the code that is mailed to the owner.
    func certifyByMail(_ app: TestInstallation) async throws -> Bool {
        let browser = try await passphraseBrowser()
        try await browser.get(InstallationRequest(app: app).place)
        return try await world.send(
            .post, "/auth/clients/\(app.id)/flagship",
            form: [
                ("code", try await world.mailedDigits()),
                ("token", browser.value(of: "token") ?? ""),
            ]
        ).status == .noContent
    }
}

extension OpeningWorld {
    /// Has it happen. False where it cannot happen to what was opened.
    mutating func end(_ end: OpeningEnd) async throws -> Bool {
        let log = world.world
        switch end {
        case .ownerMove: try await moveByLink()
        case .administratorsMove:
            try await log.carryOut(
                ChangePerson(
                    account: world.account, person: Person(email: "c@example.net"),
                    addresses: Addresses(mailbox: log.mint.mailbox("c@example.net")),
                    isConfirmed: true,
                    next: NextSubjects(mailbox: .random(), phone: .random())))
        case .passphraseChanged: try await changePassphrase()
        case .passphraseReset: try await resetPassphrase()
        case .loggedOut: try await log.carryOut(RotateSecurityStamp(account: world.account))
        case .disabled:
            try await log.carryOut(AccountChange.disable(world.account))
            try await log.carryOut(AccountChange.enable(world.account))
        case .deleted:
            try await log.carryOut(
                AccountChange.scheduleDeletion(world.account, isAtOnce: true, now: log.clock.next())
            )
            try await log.carryOut(
                DeleteAccount(
                    account: world.account,
                    next: NextSubjects(mailbox: .random(), phone: .random()),
                    now: log.clock.next()))
        case .certificationRevoked:
            try await log.carryOut(
                InstallationChange.revokeCertification(
                    try installation(phone), now: log.clock.next()))
        case .deviceRevoked:
            let answer = try await world.send(
                .delete, "/settings/clients/\(phone.id)", bearer: deskAccess)
            #expect(answer.status == .noContent)
        case .sessionEnded:
            guard let session = log.mint.readAccessToken(access)?.session else { return false }
            try await log.carryOut(
                EndSession(session: session, reason: .administrator, of: world.account))
        case .browserEnded:
            guard let cookie = browser?.cookies["__Host-urd"],
                let secret = BrowserSecret(cookie)
            else { return false }
            try await log.carryOut(
                EndBrowserSession(
                    session: secret.session, reason: .revoked, of: world.account))
        case .providerEnded:
            guard isOfProvider else { return false }
            let token = provider.logoutToken(["sid": "s-1", "sub": .null])
            let told = try await log.post("/oidc/any/logout", form: [("logout_token", token)])
            #expect(told.status == .ok)
        case .deviceRemoved:
            try await log.carryOut(
                RemoveAccess(of: world.account, at: .client(try installation(phone))))
        case .otherRemoved:
            guard let letIn else { return false }
            try await log.carryOut(
                RemoveAccess(of: world.account, at: .client(try installation(letIn))))
        }
        return true
    }

    private func moveByLink() async throws {
        let asked = try await world.send(
            .post, "/settings/email",
            json: ["passphrase": .string(passphrase), "email": "c@example.net"],
            bearer: deskAccess)
        #expect(asked.status == .noContent)
        let issued = try #require(try await world.happened("otp.issued").last)
        let code = try #require(issued.open["otp"]?.string.flatMap { UUID($0) })
        try await PageBrowser(world.world).get(
            "/settings/email/confirm?token=\(world.world.mint.ownerMove(code))")
        #expect(try await world.happened("account.mailbox_moved").count == 1)
    }

    private mutating func changePassphrase() async throws {
        let next = "what the device made of another one"
        let answer = try await world.send(
            .put, "/settings/passphrase",
            json: [
                "current_passphrase": .string(passphrase), "new_passphrase": .string(next),
                "iterations": 100_000,
            ], bearer: deskAccess)
        #expect(answer.status == .noContent)
        passphrase = next
    }

    private mutating func resetPassphrase() async throws {
        let next = "what the device made of a third one"
        let browser = try await world.page("/auth/passphrase_reset")
        try await browser.submit("/auth/passphrase_reset")
        try await browser.get(try await world.mailedLink(.passphraseReset).placeOnSite)
        try await browser.submit(
            "/auth/passphrase_renew",
            [
                ("passphrase_reset_token", browser.value(of: "passphrase_reset_token") ?? ""),
                ("passphrase", next), ("iterations", "100000"),
            ])
        #expect(browser.place == "/auth/login")
        passphrase = next
    }
}
