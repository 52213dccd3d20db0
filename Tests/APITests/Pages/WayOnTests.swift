import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `Addresses typed by hand` {
    @Test func `the first page leads to the account page`() async throws {
        let world = try await SignInWorld()
        let browser = PageBrowser(world)
        // Programs are told what this is, and where to read on. Here nobody tells them.
        try await browser.get("/")
        #expect(browser.answer?.status == .notFound)
        browser.headers["Accept"] = "text/html,*/*;q=0.8"
        try await browser.get("/")
        #expect(browser.place == "/login?next=%2Faccount")
        try await browser.signIn()
        try await browser.get("/")
        #expect(browser.answer?.status == .ok && browser.shows("ann@example.org"))
    }

    @Test func `an address that takes a form alone leads to the form's page`() async throws {
        let forms = Set(
            API.pageTable.filter { $0.method == .post && $0.voice == .page }
                .map(\.path.description))
        #expect(forms.count > 20)
        let browser = PageBrowser(
            try await SignInWorld(["registration": "jit_on_otp", "login_passphrase": true]))
        try await browser.signIn()
        for path in forms.sorted() {
            try await browser.get(path)
            #expect(browser.answer?.status != .methodNotAllowed, "\(path)")
        }
        for (path, page) in [
            ("/login/passkey?continue=sealed&x=y", "/login?continue=sealed"),
            ("/login/second?next=%2Faccount%2Fdata", "/login?next=%2Faccount%2Fdata"),
            ("/login/step-up", "/login"), ("/account/passphrase", "/account/security"),
            ("/account/email", "/account/data"), ("/account/apps/end", "/account/sessions"),
            ("/account/authenticator/confirm", "/account/authenticator"),
        ] {
            try await browser.get(path)
            #expect(browser.place == page)
        }
    }

    @Test func `an address of the flagship profile that takes a form alone leads to its page`()
        async throws
    {
        let forms = Set(
            API.flagshipPageTable.filter { $0.method == .post && $0.voice == .page }
                .map(\.path.description))
        #expect(forms.count > 5)
        let browser = PageBrowser(try await FlagshipWorld().world)
        for path in forms.sorted() {
            try await browser.get(path)
            #expect(browser.answer?.status != .methodNotAllowed, "\(path)")
        }
        for (path, page) in [
            ("/account/devices/remove", "/account/sessions"),
            ("/auth/hint", "/auth/passphrase_reset"),
            ("/auth/magic_link/twofactor", "/auth/login"),
            ("/auth/onboarding/resend", "/auth/passphrase"),
        ] {
            try await browser.get(path)
            #expect(browser.answer?.status == .seeOther && browser.place == page)
        }
    }

    @Test func `an unknown address shows the way on`() async throws {
        let browser = PageBrowser(try await SignInWorld())
        browser.headers["Accept"] = "text/html,*/*;q=0.8"
        try await browser.get("/nothing")
        #expect(browser.answer?.status == .notFound)
        #expect(browser.shows(#"href="/account""#))
    }

    @Test func `the first page leads to no account where a realm has no sign-in`() async throws {
        let browser = PageBrowser(try await SignInWorld(["profile": "flagship"]))
        browser.headers["Accept"] = "text/html,*/*;q=0.8"
        // The first page is the owner's.
        for (path, status) in [("/", Status.ok), ("/nothing", .notFound)] {
            try await browser.get(path)
            #expect(browser.answer?.status == status, "\(path)")
            #expect(!browser.shows(#"href="/account""#), "\(path)")
        }
    }
}
