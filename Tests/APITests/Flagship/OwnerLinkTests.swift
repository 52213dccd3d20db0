import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

extension FlagshipWorld {
    /// A world whose owner has taken it over and signs in by links.
    static func linked() async throws -> (FlagshipWorld, TestInstallation) {
        let world = try await FlagshipWorld(["owner_links": true])
        let app = try await world.certified()
        _ = try await world.onboard(app)
        return (world, app)
    }

    func requestLink(_ members: [(name: String, value: String)] = []) async throws -> Answered {
        try await send(.post, "/auth/magic_link", form: members)
    }

    /// What the last mailed link has in it.
    func mailedLink(_ purpose: MailedLink.Purpose = .signIn) async throws -> String {
        let issued = try await happened("mailed_link.issued").compactMap { event in
            if case .issued(let link)? = MailedLinkEvent(event) { link } else { nil }
        }
        return world.mint.address(of: try #require(issued.last { $0.purpose == purpose }))
    }

    func magicCode() async throws -> String {
        String(try #require(try await mailedLink().split(separator: "=").last))
    }

    func redeemLink(
        _ app: TestInstallation, _ code: String, _ more: JSONObject = [:]
    ) async throws -> Answered {
        try await send(
            .post, "/auth/magic_link/flagship",
            json: app.members(more.merging(["magic_code": .string(code)]) { $1 }))
    }

    func page(_ place: String) async throws -> PageBrowser {
        let browser = PageBrowser(world)
        try await browser.get(place)
        return browser
    }
}

extension String {
    /// The part of an address behind its host.
    var placeOnSite: String {
        "/" + split(separator: "/", maxSplits: 2).dropFirst(2).joined()
    }
}

@Suite struct `An owner's mailed link` {
    @Test func `COZ-16: an owner's mailed link signs them in with a certified app, once`()
        async throws
    {
        let (world, app) = try await FlagshipWorld.linked()
        let asked = try await world.requestLink()
        #expect(asked.status == .ok)
        #expect(asked.json == [:])
        let code = try await world.magicCode()
        #expect(code.utf8.count == 32)
        let wrong = try await world.redeemLink(app, String(repeating: "A", count: 32))
        #expect(wrong.status == .unauthorized)
        #expect(wrong.json == ["error": "invalid magic code"])
        let nobody = TestInstallation(id: "x", secret: "y", token: "")
        let unknown = try await world.redeemLink(nobody, code)
        #expect(unknown.status == .badRequest)
        #expect(unknown.json["error"] == "the client must be registered")
        var other = app
        other.secret = "y"
        #expect(
            try await world.redeemLink(other, code).json["error"] == "invalid client_secret")
        // None of that used it up.
        let tokens = try await world.redeemLink(app, code)
        #expect(tokens.status == .ok)
        #expect(tokens.json["scope"] == "*")
        #expect(tokens.json["refresh_token"] != nil)
        let again = try await world.redeemLink(app, code)
        #expect(again.json["error"] == "invalid magic code")
        let amr = try await world.happened("session.opened").last?.open["amr"]
        #expect(amr == ["mail"])
    }

    @Test func `COZ-16: an owner's mailed link gives an uncertified client a web view alone`()
        async throws
    {
        let (world, _) = try await FlagshipWorld.linked()
        _ = try await world.requestLink()
        let stranger = try await world.register("Stranger")
        let answer = try await world.redeemLink(stranger, try await world.magicCode())
        #expect(answer.status == .accepted)
        #expect(answer.json.object?.keys.sorted() == ["session_code"])
    }

    @Test func `COZ-16: an owner's mailed link asks for the passphrase and is used with it`()
        async throws
    {
        let (world, app) = try await FlagshipWorld.linked()
        try await world.world.carryOut(DemandMailedCodes())
        _ = try await world.requestLink()
        let code = try await world.magicCode()
        let nobody = TestInstallation(id: "x", secret: "y", token: "")
        for passphrase: JSON in [.null, "", "not his"] {
            let answer = try await world.redeemLink(nobody, code, ["passphrase": passphrase])
            #expect(answer.status == .unauthorized)
            #expect(
                answer.json["error"] == "passphrase is required as second authentication factor")
        }
        let right: JSONObject = ["passphrase": .string(FlagshipWorld.hash)]
        #expect(
            try await world.redeemLink(nobody, code, right).json["error"]
                == "the client must be registered")
        #expect(try await world.redeemLink(app, code, right).status == .ok)
        #expect(try await world.happened("session.opened").last?.open["amr"] != ["mail"])
    }

    @Test func `COZ-16: an owner's mailed link used fifty times at once signs in once`()
        async throws
    {
        let (world, app) = try await FlagshipWorld.linked()
        _ = try await world.requestLink()
        let code = try await world.magicCode()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask { try await world.redeemLink(app, code).status.code }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 200 } == 1)
        #expect(try await world.happened("mailed_link.used").count == 1)
    }

    @Test
    func `COZ-16: an owner's mailed link signs a browser in and leads to a page of this site`()
        async throws
    {
        let (world, _) = try await FlagshipWorld.linked()
        for (redirect, target) in [
            ("/account/security", "/account/security#"), ("https://evil.example/", "/account#"),
            ("//evil.example", "/account#"), ("/\\evil.example", "/account#"),
            ("https://id.acme.example/account/data#x", "/account/data#"),
            ("http://id.acme.example/account/data?a=b#x", "/account/data?a=b#"),
            ("http://drive.id.acme.example:8080/", "/account#"),
            ("https://id.acme.example@evil.example/", "/account#"),
            ("https://evilid.acme.example/", "/account#"),
        ] {
            _ = try await world.requestLink([("redirect", redirect)])
            let browser = try await world.page(try await world.mailedLink().placeOnSite)
            #expect(browser.place == target, "\(redirect)")
            #expect(browser.cookies["__Host-urd"] != nil)
        }
        let bad = try await world.page("/auth/magic_link?code=\(world.magicCode())")
        #expect(bad.answer?.status == .badRequest)
        #expect(bad.cookies["__Host-urd"] == nil)
        _ = try await world.requestLink()
        let old = try await world.mailedLink().placeOnSite
        world.world.clock.advance(seconds: MailedLink.lifetime)
        #expect(try await world.page(old).answer?.status == .badRequest)
    }

    @Test func `COZ-16: an owner's mailed link takes the passphrase with and without a script`()
        async throws
    {
        let (world, _) = try await FlagshipWorld.linked()
        try await world.world.carryOut(DemandMailedCodes())
        _ = try await world.requestLink()
        let browser = try await world.page(try await world.mailedLink().placeOnSite)
        #expect(browser.answer?.status == .ok)
        #expect(browser.cookies["__Host-urd"] == nil)
        #expect(browser.value(of: "salt") == "me@id.acme.example")
        #expect(browser.value(of: "iterations") == "650000")
        let code = try #require(browser.value(of: "code"))
        let path = "/auth/magic_link/twofactor"
        try await browser.submit(path, [("code", code), ("passphrase", "wrong")], token: "x")
        #expect(browser.answer?.status == .forbidden)
        try await browser.get(try await world.mailedLink().placeOnSite)
        let wrong = try await browser.submit(
            path, [("code", code), ("typed", "wrong")], ["Accept": "application/json"])
        #expect(wrong.status == .unauthorized)
        #expect(wrong.json["error"] != nil)
        try await browser.get(try await world.mailedLink().placeOnSite)
        let right = try await browser.submit(
            path, [("code", code), ("passphrase", FlagshipWorld.hash)],
            ["Accept": "application/json"])
        #expect(right.status == .ok)
        #expect(right.json == ["redirect": "/account#"])
        #expect(browser.cookies["__Host-urd"] != nil)
    }

    @Test func `COZ-16: an owner's mailed link is offered where the realm allows it`() async throws
    {
        let (on, _) = try await FlagshipWorld.linked()
        #expect(try await on.send(.get, "/public/prelogin").json["magic_link"] == true)
        func capability(_ world: FlagshipWorld) async throws -> JSON? {
            try await world.send(.get, "/settings/capabilities")
                .json["data"]?["attributes"]?["can_auth_with_magic_links"]
        }
        #expect(try await capability(on) == true)
        let off = try await FlagshipWorld()
        _ = try await off.onboard(try await off.certified())
        #expect(try await capability(off) == false)
        #expect(try await off.requestLink().status == .notFound)
        #expect(try await off.happened("mailed_link.issued").isEmpty)
    }

    @Test
    func `COZ-16: an owner's mailed link is refused where none is mailed, in the profile's words`()
        async throws
    {
        let (world, app) = try await FlagshipWorld.linked()
        _ = try await world.requestLink()
        let code = try await world.magicCode()
        try await world.set(["owner_links": false])
        for code in [code, "x", ""] {
            let answer = try await world.redeemLink(app, code)
            #expect(answer.status == .unauthorized)
            #expect(answer.json == ["error": "invalid magic code"])
        }
        try await world.set(["owner_links": true])
        #expect(try await world.redeemLink(app, code).status == .ok)
    }

    @Test func `COZ-25: an owner's mailed link is limited to thirty mails and guesses an hour`()
        async throws
    {
        let (world, app) = try await FlagshipWorld.linked()
        for _ in 0..<30 { #expect(try await world.requestLink().status == .ok) }
        #expect(try await world.requestLink().status == .tooManyRequests)
        let bad = String(repeating: "A", count: 32)
        for _ in 0..<30 {
            #expect(try await world.redeemLink(app, bad).status == .unauthorized)
        }
        #expect(try await world.redeemLink(app, bad).status == .tooManyRequests)
        // Whoever guesses keeps nobody out who has one.
        #expect(try await world.redeemLink(app, try await world.magicCode()).status == .ok)
    }
}
