import HTTP
import Identity
import JSON
import Testing

@testable import API

/// What a stranger asks for and guesses who knows a person's address.
enum GuessBudgets {
    private static let ann = "ann@example.org"
    private static let home = "198.51.100.1"

    static func mails() async throws {
        let world = try await SignInWorld()
        _ = try await world.join()
        let link = "/api/account/magic-link/request"
        for path in ["/api/account/native/otp/request", link] {
            func request(_ name: String, from source: String) async -> Answered {
                await world.ask(path, json: ["Email": .string(name)], from: source)
            }
            world.clock.advance(seconds: 3600)
            for turn in 0..<5 {
                #expect(await request(ann, from: network(turn)).status == .ok)
            }
            let own = await request(ann, from: home)
            #expect(own.status == .tooManyRequests && own.json["dimension"] == "target")
            #expect(await request("bob@example.org", from: network(1)).status == .ok)
            // The mail that came last is as good as one that she asked for.
            guard path == link else { continue }
            _ = await request("bob@example.org", from: network(1))
        }
        let last = try await SignInWorld()
        _ = try await last.join()
        for turn in 0..<4 {
            _ = await last.askForCode(["Email": .string(ann)], from: network(turn))
        }
        let code = try await last.mailedCode()
        #expect(await last.redeem(ann, code, from: home).status == .ok)
        for _ in 0..<6 {
            _ = await last.ask(link, json: ["Email": .string(ann)], from: network(1))
        }
        #expect(try await last.redeem(link: try await last.mailedLink()).status == .ok)
        for policy in [RatePolicy.passwordReset, .emailVerification, .verifyCode] {
            #expect(RateTable.standard[policy, .target]?.burst == 5)
        }
    }

    static func codes() async throws {
        let world = try await SignInWorld()
        _ = try await world.join()
        world.clock.advance(seconds: 3600)
        var wrong = 0
        while wrong < 10 {
            _ = await world.askForCode(["Email": .string(ann)], from: network(1))
            let right = try await world.mailedCode()
            for _ in 0..<3 where wrong < 10 {
                let guess = right == "000000" ? "000001" : "000000"
                #expect(await world.redeem(ann, guess, from: network(wrong)).status == .badRequest)
                wrong += 1
            }
        }
        // The person, from mailed codes; a link is apart, and so is another mailbox.
        _ = await world.askForCode(["Email": .string(ann)], from: home)
        let right = try await world.mailedCode()
        #expect(await world.redeem(ann, right, from: home).status == .badRequest)
        _ = try await world.requestLink(["Email": .string(ann)])
        let link = try await world.mailedLink()
        func follow(_ token: String, from source: String) async -> Answered {
            await world.ask(
                "/api/account/magic-link/login",
                json: ["UserId": .string(link["userId"] ?? ""), "Token": .string(token)],
                from: source)
        }
        for turn in 0..<40 {
            #expect(await follow("x\(turn)", from: network(turn)).status != .tooManyRequests)
        }
        #expect(await follow(link["token"] ?? "", from: home).status == .ok)
        _ = await world.askForCode(["Email": "bob@example.org"], from: network(1))
        let others = try await world.mailedCode()
        #expect(await world.redeem("bob@example.org", others, from: network(1)).status == .ok)
        world.clock.advance(seconds: 3601)
        _ = await world.askForCode(["Email": .string(ann)], from: home)
        let later = try await world.mailedCode()
        #expect(await world.redeem(ann, later, from: home).status == .ok)
    }

    static func passphrases() async throws {
        let world = try await SignInWorld([
            "registration": "jit_on_otp", "login_passphrase": true,
        ])
        let browser = PageBrowser(world)
        try await browser.signIn()
        try await browser.get("/account/security")
        let own = "seven purple otters <dance>"
        try await browser.submit("/account/passphrase", [("passphrase", own)])
        func type(_ text: String, from source: String) async throws -> PageBrowser {
            let browser = PageBrowser(world)
            browser.source = source
            try await browser.get("/login?next=/account/security")
            try await browser.submit(
                "/login",
                browser.returnTarget + [("email", ann), ("passphrase", text), ("by", "passphrase")])
            return browser
        }
        for turn in 0..<5 { _ = try await type("something else entirely", from: network(turn)) }
        #expect(try await type(own, from: home).answer?.status == .badRequest)
        for turn in 0..<15 { _ = try await type("something else entirely", from: network(turn)) }
        #expect(try await type(own, from: home).answer?.status == .tooManyRequests)
        // From the passphrase alone.
        let byCode = PageBrowser(world)
        byCode.source = home
        try await byCode.signIn()
        #expect(byCode.cookies["__Host-urd"] != nil)
        world.clock.advance(seconds: 901)
        #expect(try await type(own, from: home).answer?.status == .seeOther)
        #expect(RateTable.standard[.federationLogin, .target]?.burst == 10)
    }
}
