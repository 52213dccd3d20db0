import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `The app info` {
    private func info(_ world: SignInWorld, client: String? = nil) async throws -> JSON {
        let answer = try await world.send(
            Request(
                method: .get, path: "/api/app-info", query: client.map { "client_id=\($0)" },
                headers: ["Host": "id.acme.example"], body: [], source: "203.0.113.7", id: "r"))
        #expect(answer.status == .ok)
        return answer.json
    }

    @Test func `MOD-16: the app info lists the registration fields in three words`() async throws {
        let usual = try await info(SignInWorld())
        #expect(usual["DisplayName"] == "Acme" && usual["Registration"] == "JitOnOtp")
        #expect(
            usual["RegistrationFields"] == [
                "Email": "Required", "Username": "Off", "Firstname": "Optional",
                "Lastname": "Optional",
            ])
        let strict = try await info(
            SignInWorld([
                "registration_first_name": "required", "registration_last_name": "off",
                "registration": "explicit_endpoint",
            ]))
        #expect(strict["RegistrationFields"]?["Firstname"] == "Required")
        #expect(strict["RegistrationFields"]?["Lastname"] == "Off")
        #expect(strict["Registration"] == "ExplicitEndpoint")
    }

    @Test func `MOD-16: the app info lists the sign-in methods that the client may use`()
        async throws
    {
        let world = try await SignInWorld()
        #expect(try await info(world)["NativeGrants"]?["Otp"] == true)
        #expect(try await info(world, client: "phone")["NativeGrants"]?["Otp"] == true)
        for client in ["service", "nobody"] {
            let ways = try await info(world, client: client)["NativeGrants"]
            #expect(ways?["Enabled"] == true && ways?["Otp"] == false)
        }
        let closed = try await info(SignInWorld(["native_grants": false]), client: "phone")
        #expect(closed["NativeGrants"]?["Enabled"] == false)
        #expect(closed["NativeGrants"]?["Otp"] == false)
    }

    @Test func `MOD-16: the app info has the client's own app at every host`() async throws {
        let world = try await SignInWorld(["native_grants": false])
        let app = UUID.random()
        try await world.carryOut(AppChange.create(app, slug: "desk", name: "Desk"))
        try await world.carryOut(
            AppChange.update(
                app,
                settings: ["native_grants": true, "registration_last_name": "required"]))
        try await world.registerPhone("desk", ["app_id": .string(app.description)])
        let desk = try await info(world, client: "desk")
        #expect(desk["RegistrationFields"]?["Lastname"] == "Required")
        #expect(desk["NativeGrants"]?["Otp"] == true)
        #expect(try await info(world)["NativeGrants"]?["Enabled"] == false)
        // The token endpoint sees it so as well.
        for (client, error) in [("desk", "invalid_grant"), ("phone", "unsupported_grant_type")] {
            let answer = try await world.post(
                "/connect/token",
                form: [
                    ("grant_type", "urn:cocoar:otp"), ("client_id", client),
                    ("username", "ann@example.org"), ("otp_code", "123456"),
                ])
            #expect(answer.json["error"]?.string == error)
        }
    }

    @Test func `MOD-16: the app info has the colour and the logo where they are set`() async throws
    {
        #expect(try await info(SignInWorld())["Branding"] == nil)
        let plain = try await info(SignInWorld(["accent_colour": "#0a7b6c"]))
        #expect(plain["Branding"] == ["AccentColour": "#0a7b6c"])
        let world = try await SignInWorld([
            "accent_colour": "#0a7b6c", "logo_url": "https://acme.example/logo.svg",
        ])
        let app = UUID.random()
        try await world.carryOut(AppChange.create(app, slug: "desk", name: "Desk"))
        try await world.carryOut(AppChange.update(app, settings: ["accent_colour": "#ff0000"]))
        try await world.registerPhone("desk", ["app_id": .string(app.description)])
        let logo: JSON = "https://acme.example/logo.svg"
        #expect(
            try await info(world)["Branding"] == ["AccentColour": "#0a7b6c", "LogoUrl": logo])
        #expect(
            try await info(world, client: "desk")["Branding"]
                == ["AccentColour": "#ff0000", "LogoUrl": logo])
    }

    @Test func `MOD-16: the app info's default of who may join follows the app's native grants`()
        async throws
    {
        let world = try await SignInWorld(["native_grants": false])
        let app = UUID.random()
        try await world.carryOut(AppChange.create(app, slug: "desk", name: "Desk"))
        try await world.registerPhone("desk", ["app_id": .string(app.description)])
        let posture = { try await info(world, client: "desk")["Registration"]?.string }
        #expect(try await posture() == "Off", "It signs nobody in without a browser.")
        try await world.carryOut(AppChange.update(app, settings: ["native_grants": true]))
        #expect(try await posture() == "JitOnOtp")
        #expect(try await info(world)["Registration"] == "Off", "The realm has no such default.")
        try await world.carryOut(RealmChange.setSettings(["registration": "off"]))
        #expect(try await posture() == "Off", "The realm says so.")
        try await world.carryOut(AppChange.update(app, settings: ["registration": "invite_code"]))
        #expect(try await posture() == "InviteCode")
    }
}
