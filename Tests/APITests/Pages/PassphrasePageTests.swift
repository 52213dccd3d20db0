import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import Synchronization
import Testing
import Values

@testable import API

extension PassphraseWork {
    private static let parameters = try? Scrypt.Parameters(
        cost: 16, blockSize: 1, parallelization: 1)
    /// One that others lost.
    static let stolen = "correct horse battery staple"

    /// As little work as there can be, here and now.
    static let cheap: PassphraseWork = {
        var work = cheapest
        work.derive = { secret, salt, _, _ in
            try DevicePassphrase.hash(secret, salt: salt, rounds: 2)
        }
        return work
    }()

    private static let cheapest = PassphraseWork(
        hash: { secret, _ in try Scrypt.hash(secret, parameters: try #require(parameters)) },
        verify: { secret, text, _ in
            guard let text else { return false }
            return try Scrypt.verify(secret, against: text)
        },
        isKnown: { secret, _ in secret == SecretBytes(Array(stolen.utf8)) })
}

@Suite struct `A passphrase` {
    private static let chosen = "seven purple otters <dance>"

    private func world(
        _ settings: JSONObject = ["login_passphrase": true]
    ) async throws -> (SignInWorld, PageBrowser) {
        let world = try await SignInWorld(
            (["registration": "jit_on_otp"] as JSONObject).merging(settings) { $1 })
        let browser = PageBrowser(world)
        try await browser.signIn()
        return (world, browser)
    }

    private func set(_ text: String, _ browser: PageBrowser) async throws {
        try await browser.get("/account/security")
        try await browser.submit("/account/passphrase", [("passphrase", text)])
    }

    private func signIn(
        _ text: String, _ browser: PageBrowser, _ email: String = "ann@example.org"
    ) async throws {
        try await browser.get("/login?next=/account/security")
        try await browser.submit(
            "/login",
            browser.returnTarget + [("email", email), ("passphrase", text), ("by", "passphrase")])
    }

    @Test func `a passphrase is set on the account page, signs in and is removed there`()
        async throws
    {
        let (world, browser) = try await world()
        try await set(Self.chosen, browser)
        #expect(browser.place == "/account/security?done=passphrase-set")
        try await browser.follow()
        #expect(browser.shows("Change passphrase"))
        let other = PageBrowser(world)
        try await signIn(Self.chosen, other)
        #expect(other.place == "/account/security", "\(other.page)")
        let opened = try await world.log.events(from: 1, limit: .max, in: world.realm).last
        #expect(opened?.open["amr"] == ["pwd"])
        // Nothing that it could be guessed from stands in the open.
        let event = try await world.log.events(from: 1, limit: .max, in: world.realm)
            .last { $0.name == "passphrase.set" }
        #expect(event?.open["hash"] == nil)
        try await browser.get("/account/security")
        try await browser.submit("/account/passphrase/remove")
        #expect(browser.place == "/account/security?done=passphrase-removed")
        try await signIn(Self.chosen, PageBrowser(world))
        let late = PageBrowser(world)
        try await signIn(Self.chosen, late)
        #expect(late.answer?.status == .badRequest)
    }

    @Test func `RFC 8265: a passphrase is the same in every Unicode composition`()
        async throws
    {
        let (world, browser) = try await world()
        try await set("Gr\u{FC}\u{DF}e aus dem sch\u{F6}nen K\u{F6}ln", browser)
        #expect(browser.place == "/account/security?done=passphrase-set")
        for same in [
            "Gru\u{308}\u{DF}e aus dem scho\u{308}nen Ko\u{308}ln",
            "Gr\u{FC}\u{DF}e\u{A0}aus dem\u{202F}sch\u{F6}nen\u{3000}K\u{F6}ln",
        ] {
            let other = PageBrowser(world)
            try await signIn(same, other)
            #expect(other.place == "/account/security", "\(same.unicodeScalars.count)")
        }
        let wrong = PageBrowser(world)
        try await signIn("Gru\u{DF}e aus dem schonen Koln", wrong)
        #expect(wrong.answer?.status == .badRequest)
        // Fourteen signs, however many it takes to write them.
        try await set(String(repeating: "u\u{308}a\u{308}", count: 7), browser)
        #expect(browser.answer?.status == .badRequest)
    }

    @Test func `a passphrase that is short, too long, breached or simple is refused`() async throws
    {
        let (world, browser) = try await world()
        for wrong in [
            "", "fourteen signs", String(repeating: "abcdef", count: 50),
            PassphraseWork.stolen, "ababababababababab", "ANN@example.org",
        ] {
            try await set(wrong, browser)
            #expect(browser.answer?.status == .badRequest, "\(wrong)")
            #expect(!browser.shows("value=\"\(wrong)\"") || wrong.isEmpty)
        }
        #expect(try await !world.events().contains("passphrase.set"))
    }

    @Test func `a wrong passphrase is told at its field, which has the focus`() async throws {
        let (world, browser) = try await world()
        let field = #/<input id="passphrase"[^>]* autofocus aria-invalid="true"[^>]*>/#
        let hint = "aria-describedby=\"passphrase-wrong\""
        try await set("fourteen signs", browser)
        #expect(browser.answer?.status == .badRequest && browser.page.contains(field))
        #expect(browser.shows(hint) && browser.shows(#"id="passphrase-wrong""#))
        // For programs that keep passphrases.
        #expect(browser.shows(#"autocomplete="username" value="ann@example.org" hidden"#))
        let other = PageBrowser(world)
        try await signIn("something else entirely", other)
        #expect(other.page.contains(field) && other.shows("Wrong e-mail address or passphrase"))
        try await browser.submit(
            "/account/authenticator/change", [("totp", "000000"), ("what", "codes")])
        #expect(!browser.page.contains(field))
    }

    @Test func `a passphrase that is too long is refused, not truncated`() async throws {
        let (_, browser) = try await world()
        for page in ["/account/security", "/login?next=%2Faccount%2Fsecurity&other=1"] {
            try await browser.get(page)
            let found = browser.page.firstMatch(
                of: #/<input id="passphrase"[^>]*maxlength="(\d+)"/#)
            let limit = try #require(found.flatMap { Int($0.1) })
            // Browsers count in units of UTF-16, of which a scalar has two at most.
            for sign in ["a", "\u{1F9A6}"] {
                let cut = String(
                    decoding: String(repeating: sign, count: 2000).utf16.prefix(limit),
                    as: UTF16.self)
                #expect(PassphraseRule.check(cut, of: nil) == .tooLong)
            }
        }
    }

    /// The Enter key in the field of the address presses the first button.
    @Test func `an empty passphrase asks for a mailed code, else for a link`() async throws {
        for (settings, place, event) in [
            ([:], "/login/code?next=%2Faccount%2Fsecurity&to=", "otp.issued"),
            (["login_code": false, "login_link": true], nil, "link.issued"),
            (["login_code": false], nil, "browser.refused"),
        ] as [(JSONObject, String?, String)] {
            let world = try await SignInWorld(
                (["registration": "jit_on_otp", "login_passphrase": true] as JSONObject)
                    .merging(settings) { $1 })
            try await world.carryOut(
                RegisterAccount(
                    account: UUID.random(),
                    addresses: Addresses(mailbox: world.mint.mailbox("ann@example.org")),
                    person: Person(email: "ann@example.org"), isConfirmed: true))
            let browser = PageBrowser(world)
            try await signIn("", browser)
            #expect(place.map { browser.place?.hasPrefix($0) == true } ?? (browser.place == nil))
            let events = try await world.events()
            #expect(events.contains(event), "\(events)")
        }
    }

    @Test func `a wrong passphrase is answered the same for known and unknown addresses`()
        async throws
    {
        let (world, browser) = try await world()
        try await set(Self.chosen, browser)
        let stranger = PageBrowser(world)
        try await signIn("something else entirely", stranger, "nobody@example.org")
        #expect(stranger.answer?.status == .badRequest)
        #expect(stranger.shows("Wrong e-mail address or passphrase"))
        let page = stranger.pageUnsealed.replacing("nobody@", with: "ann@")
        try await signIn("something else entirely", stranger)
        #expect(stranger.pageUnsealed == page)
        // It is never sent back.
        #expect(!stranger.shows("something else entirely"))
    }

    @Test func `a passphrase during its lock is refused like a wrong one`() async throws {
        let (world, browser) = try await world(
            (["login_passphrase": true] as JSONObject).merging(PageBrowser.unlimited) { $1 })
        try await set(Self.chosen, browser)
        let other = PageBrowser(world)
        try await signIn("something else entirely", other)
        let wrong = other.pageUnsealed
        #expect(
            other.shows(
                "Wrong e-mail address or passphrase. After several attempts you may have to wait."))
        for _ in 0..<12 { try await signIn("something else entirely", other) }
        try await signIn(Self.chosen, other)
        #expect(other.answer?.status == .badRequest && other.pageUnsealed == wrong)
        try await signIn(Self.chosen, other, "nobody@example.org")
        #expect(other.pageUnsealed.replacing("nobody@", with: "ann@") == wrong)
    }

    @Test func `a passphrase is hashed in fair turns by source and by account`() async throws {
        let noted = Mutex<[PassphraseTurn]>([])
        let work = PassphraseWork(
            hash: { _, _ in "" },
            verify: { _, _, turn in
                noted.withLock { $0.append(turn) }
                return false
            }, isKnown: { _, _ in false })
        let world = try await SignInWorld(["login_passphrase": true], passphrases: work)
        func ask(_ email: String, from source: String) async throws {
            let browser = PageBrowser(world)
            browser.source = source
            try await signIn("seven purple otters", browser, email)
        }
        try await ask("ann@example.org", from: "203.0.113.7")
        try await ask("ANN@example.org", from: "198.51.100.9")
        try await ask("bea@example.org", from: "198.51.100.9")
        try await ask("bea@example.org", from: "2001:db8:1:2::3")
        try await ask("bea@example.org", from: "2001:db8:1:2:9::3")
        let turns = noted.withLock { $0 }
        #expect(turns.map(\.source)[..<3] == ["203.0.113.7", "198.51.100.9", "198.51.100.9"])
        #expect(turns[3].source == turns[4].source)
        #expect(turns[0].target == turns[1].target && turns[1].target != turns[2].target)
        #expect(turns[2].target == turns[4].target)
    }

    @Test func `a passphrase is not accepted anywhere while passphrases are off`() async throws {
        let (_, browser) = try await world([:])
        try await browser.get("/account/security")
        #expect(!browser.shows("passphrase"))
        try await set(Self.chosen, browser)
        #expect(browser.answer?.status == .notFound)
        let other = PageBrowser(browser.world)
        try await signIn(Self.chosen, other)
        #expect(other.answer?.status == .notFound)
        try await other.get("/login")
        #expect(!other.shows("name=\"passphrase\""))
    }

    @Test
    func `a passphrase is followed by the second factor, in the same browser, within its time`()
        async throws
    {
        let (world, browser) = try await world()
        try await set(Self.chosen, browser)
        world.clock.advance(seconds: 200)
        let (app, _) = try await world.enroll(try await world.token())
        let other = PageBrowser(world)
        try await signIn(Self.chosen, other)
        #expect(other.shows("name=\"totp\"") && other.cookies["__Host-urd"] == nil)
        let ticket = try #require(other.value(of: "ticket"))
        func second(_ browser: PageBrowser, _ ticket: String, _ code: String) async throws {
            try await browser.submit(
                "/login/second",
                [("email", "ann@example.org"), ("ticket", ticket), ("totp", code)])
        }
        try await second(other, ticket, "000000")
        #expect(other.answer?.status == .badRequest && other.shows("name=\"totp\""))
        let thief = PageBrowser(world)
        try await thief.get("/login")
        try await second(thief, ticket, try app.code(at: world.clock))
        #expect(thief.place == "/login" && thief.cookies["__Host-urd"] == nil)
        try await other.get("/login")
        let nearly = String(ticket.dropLast(2)) + (ticket.hasSuffix("AA") ? "EE" : "AA")
        for wrong in ["", "AAAA", nearly] {
            try await second(other, wrong, try app.code(at: world.clock))
            #expect(other.place == "/login", "\(wrong)")
            try await other.get("/login")
        }
        try await second(other, ticket, try app.code(at: world.clock))
        #expect(other.place == "/account")
        other.cookies["__Host-urd"] = nil
        try await other.get("/login")
        world.clock.advance(seconds: 400)
        try await second(other, ticket, try app.code(at: world.clock))
        #expect(other.place == "/login")
    }

    @Test func `a passphrase is locked for a while after five wrong guesses`() async throws {
        let (world, browser) = try await world()
        try await set(Self.chosen, browser)
        let other = PageBrowser(world)
        for _ in 0..<5 { try await signIn("something else entirely", other) }
        try await signIn(Self.chosen, other)
        #expect(other.answer?.status == .badRequest)
        #expect(
            try await world.events().filter { $0 == "passphrase.refused" }.count == 5)
        let letter = try await world.lastLetter()
        #expect(letter.to == "ann@example.org" && letter.text.contains("The attempts failed"))
        world.clock.advance(seconds: 901)
        try await signIn(Self.chosen, other)
        #expect(other.answer?.status == .seeOther)
    }

    @Test func `a right passphrase with guessed second factors warns the account's owner`()
        async throws
    {
        let (world, browser) = try await world()
        try await set(Self.chosen, browser)
        world.clock.advance(seconds: 200)
        _ = try await world.enroll(try await world.token())
        for guess in 1...7 {
            let other = PageBrowser(world)
            try await signIn(Self.chosen, other)
            try await other.submit(
                "/login/second",
                [
                    ("email", "ann@example.org"), ("ticket", other.value(of: "ticket") ?? ""),
                    ("totp", "000000"),
                ])
            #expect(other.cookies["__Host-urd"] == nil)
            let recorded = try await world.log.events(from: 1, limit: .max, in: world.realm)
            let told = recorded.filter { $0.name == "totp.refused" && $0.open["mail"] != nil }
            #expect(told.count == (guess < 5 ? 0 : 1), "\(guess)")
        }
        let letter = try await world.lastLetter(for: "totp.refused")
        #expect(letter.to == "ann@example.org" && letter.text.contains("or use a recovery code"))
    }

    @Test func `a locked passphrase does not lock mailed codes`() async throws {
        let (world, _) = try await world()
        let thief = PageBrowser(world)
        var isRefused = false
        for _ in 0..<40 where !isRefused {
            try await signIn("something else entirely", thief)
            isRefused = thief.answer?.status == .tooManyRequests
        }
        #expect(isRefused)
        world.clock.advance(seconds: 200)
        for _ in 0..<15 { try await signIn("something else entirely", thief) }
        let ann = PageBrowser(world)
        try await ann.signIn()
        #expect(ann.cookies["__Host-urd"] != nil)
    }
}
