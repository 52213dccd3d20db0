import EventSourcing
import HTTP
import Identity
import JSON
import SecurityKeys
import Testing
import Values

@testable import API
@testable import SecurityKeysTesting

@Suite struct `The account pages` {
    private func signedIn(
        _ settings: JSONObject = [:]
    ) async throws -> (browser: PageBrowser, world: SignInWorld) {
        let base: JSONObject = [
            "registration": "jit_on_otp", "primary_domain": .string(PasskeyWorld.host),
        ]
        let world = try await SignInWorld(base.merging(settings) { $1 })
        let browser = PageBrowser(world)
        try await browser.signIn()
        return (browser, world)
    }

    private static let pages = [
        "/account", "/account/security", "/account/sessions", "/account/activity",
        "/account/data", "/account/delete", "/account/data.json",
    ]

    @Test func `the account pages lead through the login and back`() async throws {
        let (browser, world) = try await signedIn()
        for page in Self.pages {
            try await browser.get(page)
            #expect(browser.answer?.status == .ok, "\(page)")
            let stranger = PageBrowser(world)
            try await stranger.get(page)
            #expect(
                stranger.place == "/login?next=\(page.replacing("/", with: "%2F"))", "\(page)")
        }
        try await browser.get("/account")
        #expect(browser.shows("ann@example.org"))
        browser.headers["Accept-Language"] = "de"
        for page in Self.pages { try await browser.get(page) }
    }

    @Test func `the account pages change nothing without their own form`() async throws {
        let (browser, world) = try await signedIn()
        let events = try await world.events()
        let changes = API.pageTable.filter {
            $0.method == .post && $0.path.description.hasPrefix("/account")
        }
        #expect(changes.count > 10)
        for route in changes {
            try await browser.submit(route.path.description, token: "forged")
            #expect(browser.answer?.status == .forbidden, "\(route.path)")
        }
        #expect(try await world.events() == events)
    }

    @Test func `the account pages ask for a recent sign-in before a change of sign-in methods`()
        async throws
    {
        let (browser, world) = try await signedIn()
        try await browser.get("/account/security")
        world.clock.advance(seconds: 1000)
        let sensitive = [
            "/account/passkeys/add", "/account/passkeys/remove", "/account/authenticator/begin",
            "/account/authenticator/confirm", "/account/authenticator/change", "/account/email",
            "/account/email/confirm", "/account/delete",
        ]
        let token = try #require(browser.token)
        let events = try await world.events()
        for path in sensitive {
            try await browser.submit(path, token: token)
            #expect(browser.place?.hasPrefix("/login?next=%2Faccount") == true, "\(path)")
        }
        for page in ["/account/authenticator", "/account/delete", "/account/data.json"] {
            try await browser.get(page)
            #expect(browser.place?.hasPrefix("/login?next=") == true)
        }
        try await browser.submit("/account/passkeys/begin", token: token)
        #expect(browser.answer?.status == .unauthorized)
        #expect(try await world.events() == events)
        try await browser.get("/login?next=%2Faccount%2Fsecurity")
        #expect(browser.shows("confirm that it is you"))
    }

    @Test func `the account pages add, name, use and remove a passkey`() async throws {
        let (browser, world) = try await signedIn()
        let account = try #require(
            try await world.log.events(from: 1, limit: .max, in: world.realm)
                .last { $0.name == "account.registered" }?.stream)
        let key = try SoftKey(of: account)
        try await browser.get("/account/security")
        // Until a script of ours runs.
        #expect(
            browser.page.contains(#/<p id="enrol-none" class="hint">To add one, [^<]* JavaScript/#))
        #expect(browser.page.contains(#/<div id="enrol-way" hidden>/#))
        let token = browser.token
        let begun = try Begun(try await browser.submit("/account/passkeys/begin", token: token))
        let attestation = try key.attestation(begun)
        func add(_ text: String) async throws {
            try await browser.submit(
                "/account/passkeys/add",
                [("ceremony", begun.id), ("attestation", text)], token: token)
        }
        try await add("{")
        #expect(browser.answer?.status == .badRequest && browser.shows("could not be added"))
        #expect(
            browser.page.contains(/id="enrol-known" role="alert" hidden>This device already/))
        try await add(String(decoding: attestation.canonical(), as: UTF8.self))
        #expect(browser.place == "/account/security?done=passkey-added")
        try await browser.follow()
        #expect(browser.shows("Your passkey is ready"))
        let id = try #require(browser.value(of: "passkey"))
        try await browser.submit(
            "/account/passkeys/rename", [("passkey", id), ("name", " <b>Phone</b> ")])
        try await browser.follow()
        #expect(browser.shows("&lt;b&gt;Phone&lt;/b&gt;") && !browser.shows("<b>Phone"))
        for (typed, said) in [(" ", "Enter a name."), ("A\u{202E}B", "Use at most 100 characters")]
        {
            try await browser.get("/account/security")
            try await browser.submit(
                "/account/passkeys/rename", [("passkey", id), ("name", typed)])
            #expect(browser.answer?.status == .badRequest)
            #expect(browser.shows("<details open>"))
            #expect(browser.shows("id=\"name-\(id)-wrong\" role=\"alert\">\(said)"))
            let field = try #require(
                browser.page.matches(of: #/<input id="name-[^>]*>/#).first
            ).0
            #expect(field.contains(" autofocus aria-invalid=\"true\""))
            #expect(typed == " " || field.contains("value=\"A\u{FFFD}B\""))
        }
        // Somebody else's is not there.
        let other = PageBrowser(world)
        try await other.signIn("eve@example.org")
        for path in ["rename", "remove"] {
            try await other.get("/account/security")
            try await other.submit("/account/passkeys/\(path)", [("passkey", id), ("name", "X")])
            #expect(other.answer?.status == .notFound)
        }
        let again = PageBrowser(world)
        try await again.get("/login")
        let login = try Begun(try await again.submit("/login/passkey/begin"))
        let visitor = PageBrowser(world)
        visitor.cookies = again.cookies
        try await visitor.get("/login")
        try await visitor.submit(
            "/login/passkey",
            [("ceremony", login.id), ("assertion", try key.assertion(login))])
        #expect(visitor.place == "/account")
        try await browser.get("/account/security")
        try await browser.submit("/account/passkeys/remove", [("passkey", id)])
        #expect(browser.place == "/account/security?done=passkey-removed")
        try await browser.follow()
        #expect(!browser.shows("Phone"))
    }

    @Test func `the account pages set up an authenticator app, renew its codes and remove it`()
        async throws
    {
        let (browser, world) = try await signedIn()
        try await browser.get("/account/security")
        try await browser.submit("/account/authenticator/begin")
        try await browser.follow()
        #expect(browser.shows("/account/authenticator/qr.svg"))
        let secret = try #require(browser.page.firstMatch(of: /<code[^>]*>([A-Z2-7 ]+)<\/code>/))
        let app = Authenticator(secret: String(secret.1.filter { $0 != " " }))
        let page = browser.token
        let picture = try await browser.get("/account/authenticator/qr.svg")
        #expect(picture.response.headers["Content-Type"] == "image/svg+xml")
        #expect(browser.page.hasPrefix("<svg"))
        try await browser.submit(
            "/account/authenticator/confirm", [("code", "000000")], token: page)
        #expect(browser.answer?.status == .badRequest && browser.shows("qr.svg"))
        try await browser.submit(
            "/account/authenticator/confirm", [("code", try app.code(at: world.clock))])
        #expect(browser.place?.hasPrefix("/account/authenticator/codes?kept=") == true)
        try await browser.follow()
        let codes = browser.page.matches(of: /<li>([0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4})<\/li>/)
        #expect(codes.count == 10)
        let recovery = String(try #require(codes.first).1)
        try await browser.get("/account/security")
        #expect(browser.shows("10 recovery codes left"))
        try await browser.submit(
            "/account/authenticator/change", [("totp", "000000"), ("what", "codes")])
        #expect(browser.answer?.status == .badRequest)
        #expect(browser.page.contains(/<input id="totp-codes"[^>]* autofocus aria-invalid="true"/))
        try await browser.submit(
            "/account/authenticator/change", [("totp", recovery), ("what", "codes")])
        try await browser.follow()
        #expect(browser.shows("Your recovery codes") && !browser.shows(recovery))
        world.clock.advance(seconds: 90)
        try await browser.get("/account/security")
        try await browser.submit(
            "/account/authenticator/change",
            [("totp", try app.code(at: world.clock)), ("what", "remove")])
        #expect(browser.place == "/account/security?done=authenticator-removed")
        try await browser.get("/account/authenticator")
        #expect(browser.place == "/account/security")
    }

    @Test func `the account pages list browsers and apps and end them`() async throws {
        let (browser, world) = try await signedIn()
        world.clock.advance(seconds: 200)
        let other = PageBrowser(world)
        other.headers["User-Agent"] = "Mozilla/5.0 (Windows NT 10.0)"
        try await other.signIn()
        world.clock.advance(seconds: 200)
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let tokens = try await world.redeem(try await world.mailedCode())
        let access = try #require(tokens.json["access_token"]?.string)
        try await browser.get("/account/sessions")
        #expect(browser.shows("Windows") && browser.shows("This browser"))
        #expect(browser.shows(">phone<"))
        // Not somebody else's, and not what is none.
        for wrong in ["", "a", UUID.random().description] {
            try await browser.submit("/account/sessions/end", [("session", wrong)])
            #expect(browser.answer?.status == .notFound)
            try await browser.get("/account/sessions")
        }
        let session = try #require(browser.value(of: "session"))
        let stranger = PageBrowser(world)
        try await stranger.signIn("eve@example.org")
        try await stranger.get("/account/sessions")
        #expect(!stranger.shows("Windows"))
        try await stranger.submit("/account/sessions/end", [("session", session)])
        #expect(stranger.answer?.status == .notFound)
        try await browser.submit("/account/sessions/end", [("session", session)])
        try await browser.follow()
        #expect(browser.shows("The browser was signed out") && !browser.shows("Windows"))
        try await other.get("/account")
        #expect(other.place == "/login?next=%2Faccount")
        try await browser.submit("/account/apps/end", [("client", "phone")])
        try await browser.follow()
        #expect(browser.shows("The app no longer has access") && !browser.shows(">phone<"))
        #expect(try await world.userInfo(access).status == .unauthorized)
        try await browser.submit("/account/sessions/end-all")
        #expect(browser.place == "/logged-out")
        #expect(browser.cookies["__Host-urd"] == nil)
        #expect(try await world.events().last == "account.stamp_rotated")
    }

    @Test func `the account pages show the login history`() async throws {
        let (browser, world) = try await signedIn()
        try await browser.get("/account/activity")
        #expect(browser.shows("Code by e-mail") && browser.shows("Signed in"))
        world.clock.advance(seconds: 200)
        _ = try await world.requestCode(["Email": "ann@example.org"])
        _ = try await world.redeem(try await world.mailedCode())
        try await browser.get("/account/activity")
        #expect(browser.shows(">phone<"))
    }

    @Test func `the account pages export all that is known of the person`() async throws {
        let (browser, _) = try await signedIn()
        let answer = try await browser.get("/account/data.json")
        #expect(
            answer.response.headers["Content-Disposition"]
                == #"attachment; filename="my-data.json""#)
        #expect(answer.json["account"]?["email"] == "ann@example.org")
        #expect(answer.json["browsers"]?.array?.count == 1)
        #expect(answer.json["events"]?.array?.isEmpty == false)
        #expect(!browser.shows("digest"))
    }

    @Test func `the account pages move the account to a confirmed address`() async throws {
        let (browser, world) = try await signedIn(PageBrowser.unlimited)
        world.clock.advance(seconds: 200)
        func ask(_ address: String) async throws {
            try await browser.get("/account/data")
            try await browser.submit("/account/email", [("email", address)])
            if browser.place != nil { try await browser.follow() }
        }
        func confirm(_ address: String, _ code: String) async throws {
            try await browser.submit(
                "/account/email/confirm", [("email", address), ("code", code)])
        }
        try await ask("nonsense")
        #expect(browser.answer?.status == .badRequest && browser.shows("aria-invalid"))
        // One that somebody has: nobody hears of it.
        try await PageBrowser(world).signIn("eve@example.org")
        try await ask("eve@example.org")
        let taken = browser.pageUnsealed.replacing("eve@", with: "anna@")
        try await ask("anna@example.org")
        #expect(browser.pageUnsealed == taken)
        let code = try await browser.code()
        let letter = try await world.lastLetter(["display_name": "Acme"], for: "otp.issued")
        #expect(letter.to == "anna@example.org" && letter.text.contains(code))
        #expect(letter.subject == "Confirm your new address for Acme")
        #expect(!letter.text.contains("sign in") && letter.text.contains("nothing changes"))
        try await confirm("anna@example.org", "000000")
        #expect(browser.answer?.status == .badRequest)
        // It signs nobody in, and moves nobody else.
        let thief = PageBrowser(world)
        try await thief.get("/login")
        try await thief.submit("/login/code", [("email", "anna@example.org"), ("code", code)])
        #expect(thief.answer?.status == .badRequest)
        let answers = await browser.together(
            50, "/account/email/confirm", [("email", "anna@example.org"), ("code", code)])
        // The others come too late, or are signed out by then.
        #expect(try await world.events().filter { $0 == "account.mailbox_changed" }.count == 1)
        #expect(answers.contains(.seeOther))
        world.clock.advance(seconds: 200)
        try await browser.get("/login")
        #expect(!browser.shows("Your address is now"))
        try await browser.signIn("anna@example.org")
        try await browser.get("/account")
        #expect(browser.shows("anna@example.org"))
        #expect(try await world.events().filter { $0 == "account.registered" }.count == 2)
    }

    @Test func `the account pages name the new address to sign in with after a move`() async throws
    {
        let (browser, world) = try await signedIn()
        world.clock.advance(seconds: 200)
        try await browser.get("/account/data")
        try await browser.submit("/account/email", [("email", "anna@example.org")])
        let asked = try #require(browser.place)
        try await browser.follow()
        try await browser.submit(
            asked, [("email", "anna@example.org"), ("code", try await browser.code())])
        let place = try #require(browser.place)
        #expect(
            place.hasPrefix("/login?next=%2Faccount%2Fdata&to=") && !place.contains("anna@")
                && !place.contains("anna%40"))
        try await browser.follow()
        #expect(browser.shows("Your address is now anna@example.org. Sign in with it."))
        #expect(browser.shows("role=\"status\"") && browser.shows("value=\"anna@example.org\""))
        // No link from elsewhere says so, nor one that is for another page.
        let sealed = try #require(asked.split(separator: "to=").last)
        for place in ["/login?to=anna@example.org", "/login?next=%2Faccount&to=\(sealed)"] {
            try await browser.get(place)
            #expect(browser.answer?.status == .ok && !browser.shows("Your address is now"))
        }
        let stranger = PageBrowser(world)
        try await stranger.get(place)
        #expect(stranger.answer?.status == .ok && !stranger.shows("anna@example.org"))
        world.clock.advance(seconds: 200)
        try await browser.signIn("anna@example.org")
        #expect(browser.place == "/account")
    }

    @Test func `the account pages delete the account`() async throws {
        let (browser, world) = try await signedIn()
        try await browser.get("/account/delete")
        #expect(browser.shows("30 days"))
        try await browser.submit("/account/delete")
        #expect(
            browser.answer?.status == .ok && browser.shows("Your account is scheduled for deletion")
        )
        #expect(browser.cookies["__Host-urd"] == nil)
        #expect(try await world.events().last == "account.deletion_scheduled")
        world.clock.advance(seconds: 200)
        try await browser.get("/login")
        try await browser.askForCode()
        #expect(try await world.events().last == "account.deletion_scheduled")
    }

    @Test func `the account pages cancel a deletion by the mailed link's button alone, once`()
        async throws
    {
        let (browser, world) = try await signedIn()
        try await browser.get("/account/delete")
        try await browser.submit("/account/delete")
        let letter = try await world.lastLetter()
        let place = try #require(letter.link.map(\.placeOnSite))
        #expect(letter.text.contains("Keep my account") || letter.html.contains("Keep my account"))
        #expect(place.hasPrefix("/keep-account?token="))
        let other = PageBrowser(world)
        for wrong in [
            place + "0", place.dropLast() + "g", "/keep-account", "/keep-account?token=x",
        ] {
            try await other.get(String(wrong))
            #expect(other.answer?.status == .badRequest, "\(wrong)")
        }
        // To look at it changes nothing.
        try await other.get(place)
        #expect(other.shows("Keep your account?"))
        #expect(try await world.events().last == "account.deletion_scheduled")
        let token = [(name: "token", value: other.value(of: "token") ?? "")]
        // Nor does a form that no page of ours showed.
        let forged = try await world.post("/keep-account", form: token)
        #expect(forged.status == .forbidden)
        _ = await other.together(50, "/keep-account", token)
        #expect(try await world.events().count { $0 == "account.deletion_cancelled" } == 1)
        try await other.get(place)
        #expect(other.answer?.status == .badRequest && other.cookies["__Host-urd"] == nil)
        world.clock.advance(seconds: 200)
        try await other.signIn()
        try await other.get("/account")
        #expect(other.shows("ann@example.org"))
    }
}
