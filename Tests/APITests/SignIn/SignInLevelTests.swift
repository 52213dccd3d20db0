import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `MOD-07: An app that asks for more than one factor` {
    private let demand: JSONObject = ["sign_in_level": "multi"]

    @Test func `MOD-07: an app with a demanded level sends people with one factor to a browser`()
        async throws
    {
        let world = try await SignInWorld(
            demand.merging(["registration": "jit_on_otp"]) { own, _ in own })
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let answer = try await world.redeem(try await world.mailedCode())
        #expect(answer.status == .badRequest && answer.json["error"] == "mfa_required")
        #expect(answer.json["methods"] == ["passkey", "totp"])
        #expect(answer.json["error_description"] != nil && answer.json["access_token"] == nil)
        #expect(try await world.events().contains("session.opened") == false)
    }

    @Test
    func `MOD-07: an app with a demanded level takes two factors and refuses weaker refreshes`()
        async throws
    {
        let world = try await SignInWorld(["registration": "jit_on_otp"])
        let weak = try await world.join()
        let (app, _) = try await world.enroll(try #require(weak["access_token"]?.string))
        try await world.carryOut(RealmChange.setSettings(demand))
        let refused = try await refresh(weak["refresh_token"], world)
        #expect(refused.status == .badRequest && refused.json["error"] == "invalid_grant")
        #expect(
            refused.json["error_description"]
                == "The application now requires a stronger sign-in")
        let code = try await world.mailCode()
        let strong = try await world.post(
            "/connect/token",
            form: [
                ("grant_type", "urn:cocoar:otp"), ("client_id", "phone"),
                ("username", "ann@example.org"), ("otp_code", code),
                ("totp_code", try app.code(at: world.clock)), ("scope", "openid offline_access"),
            ])
        #expect(strong.status == .ok, "\(strong.json)")
        #expect(try await refresh(strong.json["refresh_token"], world).status == .ok)
        // Nothing was ended by asking for more.
        try await world.carryOut(RealmChange.setSettings(["sign_in_level": .null]))
        #expect(try await refresh(weak["refresh_token"], world).status == .ok)
    }

    @Test func `MOD-07: an app with a demanded level has it at the login page for each client`()
        async throws
    {
        let site = try await AuthorizeWorld(demand)
        try await site.signIn(by: [.mailedCode])
        for more in [[], [("acr_values", "urn:modgud:acr:single")]] as [Pairs] {
            let weak = try await site.authorize(AuthorizeWorld.request(more))
            #expect(try site.sent(weak).to == "/login")
        }
        let mute = try await site.authorize(AuthorizeWorld.request([("prompt", "none")]))
        #expect(try site.sent(mute).with["error"] == "login_required")
        try await site.signIn(by: [.mailedCode, .multiple])
        #expect(try await site.redeem(try await site.code()).status == .ok)
    }

    @Test func `MOD-07: an app with a demanded level redeems no earlier code`() async throws {
        let site = try await AuthorizeWorld()
        try await site.signIn(by: [.mailedCode])
        let code = try await site.code()
        try await site.world.carryOut(RealmChange.setSettings(demand))
        #expect(try await site.redeem(code).json["error"] == "mfa_required")
    }

    @Test
    func `MOD-07: an app with a demanded level has it where its clients ask, and alone there`()
        async throws
    {
        let site = try await AuthorizeWorld()
        let shop = UUID.random()
        try await site.world.carryOut(AppChange.create(shop, slug: "shop", name: "Shop"))
        try await site.world.carryOut(AppChange.update(shop, settings: demand))
        try await site.register("shop", ["app_id": .string(shop.description)])
        try await site.signIn(by: [.mailedCode])
        let weak = try await site.authorize(AuthorizeWorld.request([("client_id", "shop")]))
        #expect(try site.sent(weak).to == "/login")
        #expect(try await site.redeem(try await site.code()).status == .ok)
        try await site.signIn(by: [.mailedCode, .multiple])
        let code = try await site.code(AuthorizeWorld.request([("client_id", "shop")]))
        #expect(try await site.redeem(code, [("client_id", "shop")]).status == .ok)
    }

    private func refresh(_ token: JSON?, _ world: SignInWorld) async throws -> Answered {
        try await world.post(
            "/connect/token",
            form: [
                ("grant_type", "refresh_token"), ("client_id", "phone"),
                ("refresh_token", token?.string ?? ""),
            ])
    }
}
