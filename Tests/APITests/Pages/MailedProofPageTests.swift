import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `A mailed link after a move to another mailbox` {
    private static let chosen = "seven purple otters <dance>"

    /// Somebody moves Ann's account away from the mailbox, on an administrator's word.
    private func move(_ world: SignInWorld, to email: String = "anna@example.net") async throws {
        let events = try await world.log.events(from: 1, limit: .max, in: world.realm)
        let account = try #require(events.first { $0.name == "account.registered" }?.stream)
        try await world.carryOut(
            ChangePerson(
                account: account, person: Person(email: email),
                addresses: Addresses(mailbox: world.mint.mailbox(email)), isConfirmed: true,
                next: NextSubjects(mailbox: .random(), phone: .random())))
    }

    private func joined() async throws -> (SignInWorld, PageBrowser) {
        let world = try await SignInWorld([
            "registration": "jit_on_otp", "login_passphrase": true, "login_link": true,
            "otp_resend_delay": 0,
        ])
        let browser = PageBrowser(world)
        try await browser.signIn()
        return (world, PageBrowser(world))
    }

    private func resetLink(_ world: SignInWorld, _ browser: PageBrowser) async throws -> String {
        try await browser.get("/passphrase/forgotten")
        try await browser.submit("/passphrase/forgotten", [("email", "ann@example.org")])
        let issued = try await world.log.events(from: 1, limit: .max, in: world.realm).compactMap {
            if case .issued(let link)? = MailedLinkEvent($0) { link } else { nil }
        }
        return world.mint.address(of: try #require(issued.last)).placeOnSite
    }

    @Test func `a mailed link after a move sets no passphrase and shows neither address`()
        async throws
    {
        let (world, browser) = try await joined()
        let place = try await resetLink(world, browser)
        try await browser.get(place)
        #expect(browser.shows("Choose a passphrase") && browser.shows("ann@example.org"))
        let token = try #require(browser.value(of: "token"))
        try await move(world)
        try await browser.submit(
            "/passphrase/reset", [("token", token), ("passphrase", Self.chosen)])
        #expect(browser.answer?.status == .badRequest)
        for place in [place, "/passphrase/reset?token=\(token)"] {
            try await browser.get(place)
            #expect(
                browser.answer?.status == .badRequest
                    && browser.shows("This link has expired or was already used"))
            #expect(!browser.shows("anna@example.net") && !browser.shows("ann@example.org"))
        }
        #expect(try await !world.events().contains("passphrase.set"))
    }

    @Test func `a mailed link after a move is not sent where it was still in the queue`()
        async throws
    {
        let (world, browser) = try await joined()
        _ = try await resetLink(world, browser)
        let letter = try await world.lastLetter(for: "mailed_link.issued")
        #expect(letter.to == "ann@example.org")
        try await move(world)
        await #expect(throws: (any Error).self) {
            try await world.lastLetter(for: "mailed_link.issued")
        }
    }

    @Test func `a mailed link after a move shows the address it was sent to and signs nobody in`()
        async throws
    {
        let (world, browser) = try await joined()
        _ = try await world.requestLink(["Email": "Ann@Example.org"])
        let place = try await world.mailedAddress().placeOnSite
        try await browser.get(place)
        #expect(browser.shows("This link signs you in as") && browser.shows("ann@example.org"))
        try await move(world)
        try await browser.get(place)
        #expect(browser.answer?.status == .badRequest)
        #expect(!browser.shows("anna@example.net") && !browser.shows("ann@example.org"))
    }

    @Test func `COZ-24: a mailed link after a move sets no owner's passphrase and gives no scope`()
        async throws
    {
        let (world, app) = try await FlagshipWorld.linked()
        let page = PageBrowser(world.world)
        try await page.get("/auth/passphrase_reset")
        try await page.submit("/auth/passphrase_reset")
        let reset = try await world.mailedLink(.passphraseReset).placeOnSite
        #expect(try await world.requestLink().status == .ok)
        let code = try await world.magicCode()
        try await page.get(reset)
        #expect(page.shows("Choose a passphrase"))
        let token = try #require(page.value(of: "passphrase_reset_token"))
        try await world.world.carryOut(
            ChangePerson(
                account: world.account, person: Person(email: "camille@example.net"),
                addresses: Addresses(mailbox: world.world.mint.mailbox("camille@example.net")),
                isConfirmed: true,
                next: NextSubjects(mailbox: .random(), phone: .random())))
        try await page.submit(
            "/auth/passphrase_renew",
            [
                ("passphrase_reset_token", token), ("passphrase", "what somebody else made of it"),
                ("iterations", "650000"),
            ])
        #expect(page.place == nil)
        try await page.get(reset)
        #expect(page.answer?.status == .badRequest && !page.shows("camille@example.net"))
        #expect(try await world.redeemLink(app, code).json == ["error": "invalid magic code"])
        #expect(try await world.happened("passphrase.derived").count == 1)
    }

    @Test func `a mailed link after a move hands over no realm, and a new invitation does`()
        async throws
    {
        let world = try await FlagshipWorld()
        func invite() async throws -> String {
            let page = PageBrowser(world.world)
            try await page.get("/auth/login")
            try await page.submit("/auth/onboarding/resend")
            let letter = try await world.world.lastLetter(for: "owner.invited")
            let link = try #require(letter.link)
            return String(try #require(link.split(separator: "=").last))
        }
        let first = try await invite()
        #expect(first == world.registerToken)
        try await world.world.carryOut(
            ChangePerson(
                account: world.account, person: Person(email: "camille@example.net"),
                addresses: Addresses(mailbox: world.world.mint.mailbox("camille@example.net")),
                isConfirmed: true,
                next: NextSubjects(mailbox: .random(), phone: .random())))
        let app = try await world.register()
        #expect(try await world.onboard(app).status == .badRequest)
        let page = try await world.page("/auth/passphrase?registerToken=\(first)")
        #expect(page.answer?.status == .badRequest)
        let second = try await invite()
        #expect(second != first)
        try await page.get("/auth/passphrase?registerToken=\(second)")
        #expect(page.answer?.status == .ok)
    }
}
