import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `Whoever types an address by hand` {
    @Test func `comes from the first page to the own account`() async throws {
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

    @Test func `is shown the way on where nothing is`() async throws {
        let browser = PageBrowser(try await SignInWorld())
        browser.headers["Accept"] = "text/html,*/*;q=0.8"
        try await browser.get("/nothing")
        #expect(browser.answer?.status == .notFound)
        #expect(browser.shows(#"href="/account""#))
    }

    @Test func `is sent to no account where people have none`() async throws {
        let browser = PageBrowser(try await SignInWorld(["profile": "flagship"]))
        browser.headers["Accept"] = "text/html,*/*;q=0.8"
        for path in ["/", "/nothing"] {
            try await browser.get(path)
            #expect(browser.answer?.status == .notFound)
            #expect(!browser.shows(#"href="/account""#))
        }
    }
}
