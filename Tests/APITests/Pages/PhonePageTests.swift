import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `Pages that take a phone number` {
    private static let settings: JSONObject = [
        "registration": "jit_on_otp", "login_link": true, "login_passphrase": true,
        "phone_sign_in": true, "phone_countries": ["CH"],
    ]

    private func ask(_ browser: PageBrowser, _ typed: String, by: String) async throws {
        try await browser.get("/login")
        try await browser.submit(
            "/login", browser.returnTarget + [("email", typed), ("by", by)])
    }

    /// A link would open in another browser: a phone gets a code all the same.
    @Test(arguments: ["email_code", "email_link"])
    func `a phone number signs in on a page, however it is written`(by: String) async throws {
        let browser = PageBrowser(try await SignInWorld(Self.settings))
        try await browser.get("/login")
        #expect(browser.shows("E-mail address or phone number") && !browser.shows(#"type="email""#))
        try await ask(browser, "078 123 45 67", by: by)
        let place = try #require(browser.place)
        #expect(place.hasPrefix("/login/code?to=") && !place.contains("781234567"))
        try await browser.get(place)
        #expect(browser.shows("Check your phone") && browser.shows("+41781234567"))
        let letter = try await browser.world.lastLetter(for: "otp.issued")
        #expect(letter.channel == .sms && letter.to == "+41781234567")
        try await browser.submit(
            "/login/code", [("email", "+41 78 123 45 67"), ("code", try await browser.code())])
        #expect(browser.place == "/account")
        try await browser.follow()
        #expect(browser.answer?.status == .ok)
    }

    @Test(arguments: [
        ("+41 44 668 18 00", "Enter the number of a mobile phone."),
        ("+49 1512 3456789", "send messages to that country"),
        ("078 12", "or a phone number with its country"), ("ann", "or a phone number"),
    ])
    func `a number that is not taken is refused with the reason`(
        typed: String, reason: String
    ) async throws {
        let browser = PageBrowser(try await SignInWorld(Self.settings))
        try await ask(browser, typed, by: "email_code")
        #expect(browser.answer?.status == .badRequest && browser.shows(reason))
        #expect(try await browser.world.events().contains("otp.issued") == false)
    }

    @Test func `a page without phone numbers speaks of mail addresses alone`() async throws {
        let browser = PageBrowser(
            try await SignInWorld(Self.settings.merging(["phone_sign_in": false]) { $1 }))
        try await ask(browser, "+41 78 123 45 67", by: "email_code")
        #expect(browser.answer?.status == .badRequest && !browser.shows("phone"))
    }
}
