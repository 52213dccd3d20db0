import JSON
import Testing

@testable import API

@Suite struct `Mail addresses on pages` {
    private let kept = "ann@xn--mller-kva.example"
    private let shown = "ann@müller.example"

    @Test func `mail addresses on pages are shown in Unicode`() async throws {
        let browser = PageBrowser(
            try await SignInWorld(["registration": "jit_on_otp", "otp_resend_delay": 0]))
        func sees() -> Bool { browser.shows(">\(shown)<") && !browser.shows(">\(kept)<") }
        try await browser.get("/login")
        try await browser.askForCode(shown)
        #expect(sees())
        // What the form sends, and what is asked for by it, has one form.
        #expect(browser.value(of: "email") == kept)
        try await browser.submit(
            "/login/code", [("email", kept), ("code", try await browser.code())])
        for page in ["/account", "/account/data"] {
            try await browser.get(page)
            #expect(sees(), "\(page)")
        }
        let data = try await browser.get("/account/data.json")
        #expect(data.json["account"]?["email"]?.string == kept)
        try await browser.get("/account/data")
        try await browser.submit("/account/email", [("email", "ann@bücher.example")])
        let asked = try #require(browser.place)
        try await browser.follow()
        #expect(browser.shows(">ann@bücher.example<"))
        try await browser.submit(
            asked,
            [("email", "ann@xn--bcher-kva.example"), ("code", try await browser.code())])
        try await browser.follow()
        #expect(browser.shows("Your address is now ann@bücher.example."))
        // Not every browser takes other letters in the field of an address.
        #expect(browser.shows(#"value="ann@xn--bcher-kva.example""#))
    }

    @Test(arguments: [
        "ann@xn--80ak6aa92e.com", "ann@xn--mller-kva", "ann@xn--99999999.example", "ann", "",
        "ann@xn--ls8h.example",
    ])
    func `mail addresses on pages stay in ASCII where look-alike letters could deceive`(
        kept: String
    ) {
        #expect(Parts.address(kept) == kept)
    }
}
