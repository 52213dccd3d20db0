import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `An owner who moves to another address` {
    private let email = "camille@example.net"

    private func world() async throws -> (FlagshipWorld, TestInstallation, String) {
        let world = try await FlagshipWorld()
        let app = try await world.certified()
        let access = try await world.onboard(app).json["access_token"]?.string
        return (world, app, try #require(access))
    }

    private func ask(
        _ world: FlagshipWorld, _ access: String?, _ members: JSON
    ) async throws -> Answered {
        try await world.send(.post, "/settings/email", json: members, bearer: access)
    }

    private func link(_ world: FlagshipWorld) async throws -> String {
        let issued = try #require(try await world.happened("otp.issued").last)
        let code = try #require(issued.open["otp"]?.string.flatMap { UUID($0) })
        #expect(
            issued.open["base"] == "http://id.acme.example/settings/email/confirm?token=")
        return "/settings/email/confirm?token=\(world.world.mint.ownerMove(code))"
    }

    @Test func `COZ-24: an owner moves to another address with the passphrase and the mailed link`()
        async throws
    {
        let (world, app, access) = try await world()
        let good: JSON = ["passphrase": .string(FlagshipWorld.hash), "email": .string(email)]
        let wrong = try await ask(world, access, ["passphrase": "x", "email": .string(email)])
        #expect(wrong.status == .badRequest)
        #expect(wrong.json["errors"]?[0]?["detail"] == "invalid passphrase")
        let none = try await ask(
            world, access, ["passphrase": .string(FlagshipWorld.hash), "email": "x"])
        #expect(none.status == .unprocessable)
        #expect(try await ask(world, nil, good).status == .unauthorized)
        #expect(try await world.happened("otp.issued").isEmpty)
        #expect(try await ask(world, access, good).status == .noContent)
        let first = try await link(world)
        #expect(
            try await world.send(.post, "/settings/email/resend", bearer: access).status
                == .noContent)
        let second = try await link(world)
        #expect(first != second)
        let browser = PageBrowser(world.world)
        #expect(try await browser.get(first).status == .badRequest)
        #expect(try await browser.get("\(second)x").status == .badRequest)
        #expect(try await browser.get(second).status == .seeOther)
        #expect(try await browser.get(second).status == .badRequest)
        #expect(try await world.happened("account.mailbox_moved").count == 1)
        // The app stays signed in, and the place of the owner has moved.
        let found = try await world.send(.get, "/settings/instance", bearer: access)
        #expect(found.json["data"]?["attributes"]?["email"] == .string(email))
        #expect(try await world.login(app).status == .ok)
    }

    @Test func `COZ-24: an owner can cancel a move and learns nothing of who has an address`()
        async throws
    {
        let (world, _, access) = try await world()
        try await world.world.carryOut(
            RegisterAccount(
                account: .random(),
                addresses: Addresses(mailbox: world.world.mint.mailbox("taken@example.org")),
                person: Person(email: "taken@example.org"), isConfirmed: true))
        let hash = JSON.string(FlagshipWorld.hash)
        let taken = try await ask(
            world, access, ["passphrase": hash, "email": "taken@example.org"])
        #expect(taken.status == .noContent)
        #expect(try await world.happened("otp.issued").isEmpty)
        let early = try await world.send(.post, "/settings/email/resend", bearer: access)
        #expect(early.status == .badRequest)
        _ = try await ask(world, access, ["passphrase": hash, "email": .string(email)])
        let place = try await link(world)
        #expect(
            try await world.send(.delete, "/settings/email", bearer: access).status == .noContent)
        #expect(try await PageBrowser(world.world).get(place).status == .badRequest)
        #expect(try await world.happened("account.mailbox_moved").isEmpty)
    }

    @Test func `COZ-24: a move link opened fifty times at once moves the owner once`() async throws
    {
        let (world, _, access) = try await world()
        _ = try await ask(
            world, access,
            ["passphrase": .string(FlagshipWorld.hash), "email": .string(email)])
        let place = try await link(world)
        let parts = place.split(separator: "?").map(String.init)
        let router = world.world.router
        let statuses = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await router.respond(
                        to: Request(
                            method: .get, path: parts[0], query: parts[1],
                            headers: ["Host": "id.acme.example"], body: [],
                            source: "203.0.113.7", id: "r")
                    ).status.code
                }
            }
            return await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 303 } == 1)
        #expect(try await world.happened("account.mailbox_moved").count == 1)
    }
}

@Suite struct `The instance document` {
    private func world() async throws -> (FlagshipWorld, String) {
        let world = try await FlagshipWorld()
        let access = try await world.onboard(try await world.certified()).json["access_token"]
        return (world, try #require(access?.string))
    }

    private func change(
        _ world: FlagshipWorld, _ access: String, _ attributes: JSON
    ) async throws -> Answered {
        try await world.send(
            .put, "/settings/instance",
            json: ["data": ["type": "io.cozy.settings", "attributes": attributes]],
            bearer: access)
    }

    @Test func `COZ-24: the instance document says who the owner is and how they sign in`()
        async throws
    {
        let (world, access) = try await world()
        let found = try await world.send(.get, "/settings/instance", bearer: access)
        #expect(found.response.headers["Content-Type"] == "application/vnd.api+json")
        #expect(
            found.json["data"]?["attributes"] == [
                "locale": "en", "email": "camille@example.org", "public_name": "Camille",
                "auth_mode": "basic", "password_defined": true, "context": "default",
                "onboarding_finished": true,
            ])
        try await world.world.carryOut(DemandMailedCodes())
        let asked = try await world.send(.get, "/settings/instance", bearer: access)
        #expect(asked.json["data"]?["attributes"]?["auth_mode"] == "two_factor_mail")
        #expect(try await world.send(.get, "/settings/instance").status == .unauthorized)
    }

    @Test
    func `COZ-24: the instance document takes another name and language, but no mail address`()
        async throws
    {
        let (world, access) = try await world()
        let changed = try await change(
            world, access,
            ["public_name": "Camille B", "locale": "de", "email": "camille@example.org"])
        #expect(changed.status == .ok)
        #expect(changed.json["data"]?["attributes"]?["public_name"] == "Camille B")
        #expect(changed.json["data"]?["attributes"]?["locale"] == "de")
        #expect(try await world.happened("account.person_changed").count == 1)
        for wrong: JSON in [
            ["email": "eve@example.org"], ["locale": "x"], ["locale": "fr-"], ["locale": "f\u{e9}"],
            ["public_name": .string(String(repeating: "a", count: 200))],
        ] {
            #expect(try await change(world, access, wrong).status == .unprocessable)
        }
        #expect(try await change(world, access, .null).status == .badRequest)
        #expect(try await world.happened("account.person_changed").count == 1)
    }

    @Test
    func `COZ-13: the instance document's name and language are what prelogin says of the owner`()
        async throws
    {
        let (world, access) = try await world()
        for locale: JSON in ["fr", "pt-BR", "zh_Hant"] {
            let changed = try await change(
                world, access, ["public_name": "Camille B", "locale": locale])
            #expect(changed.json["data"]?["attributes"]?["locale"] == locale)
            let known = try await world.send(.get, "/public/prelogin").json
            #expect(known["locale"] == locale && known["name"] == "Camille B")
        }
        // Nobody writes in this language here.
        #expect(try await world.page("/auth/login").shows("Sign in"))
        _ = try await change(world, access, ["public_name": ""])
        #expect(try await world.send(.get, "/public/prelogin").json["name"] == "Acme")
    }

    @Test func `COZ-24: the instance document is shown in part to an app with a narrower scope`()
        async throws
    {
        let (world, _) = try await world()
        let narrow = try await world.consented(try await world.register("Narrow"), "files")
        let found = try await world.send(.get, "/settings/instance", bearer: narrow)
        #expect(found.status == .ok)
        #expect(
            found.json["data"]?["attributes"] == [
                "locale": "en", "public_name": "Camille", "password_defined": true,
                "context": "default", "onboarding_finished": true,
            ])
        #expect(try await change(world, narrow, ["locale": "de"]).status == .forbidden)
    }

    @Test func `COZ-21: an app of any scope learns the flags of the realm at its start`()
        async throws
    {
        let (world, access) = try await world()
        func flags(_ bearer: String?) async throws -> Answered {
            try await world.send(.get, "/settings/flags", bearer: bearer)
        }
        let none = try await flags(access)
        #expect(none.status == .ok)
        #expect(none.response.headers["Content-Type"] == "application/vnd.api+json")
        #expect(none.json["data"]?["type"] == "io.cozy.settings")
        #expect(none.json["data"]?["id"] == "io.cozy.settings.flags")
        #expect(none.json["data"]?["attributes"] == [:])
        let narrow = try await world.consented(try await world.register("Narrow"), "files")
        try await world.set(["installation_limit": 3])
        for token in [access, narrow] {
            #expect(
                try await flags(token).json["data"]?["attributes"] == ["cozy.oauthclients.max": 3])
        }
        try await world.add(FlagshipWorld.drive)
        let opened = try await world.open("drive", access).json["data"]?["attributes"]?["Token"]
        #expect(
            try await flags(opened?.string).json["data"]?["attributes"]
                == ["cozy.oauthclients.max": 3, "drive.beta": true])
        #expect(try await flags(nil).status == .unauthorized)
        #expect(try await flags("x").json == ["error": "Invalid JWT token"])
    }

    @Test func `COZ-24: the instance document records the owner's agreement to the terms`()
        async throws
    {
        let (world, access) = try await world()
        let signed = try await world.send(
            .put, "/settings/instance/sign_tos", bearer: access)
        #expect(signed.status == .noContent)
        #expect(try await world.happened("owner.terms_signed").count == 1)
        #expect(
            try await world.send(.put, "/settings/instance/sign_tos").status == .unauthorized)
    }
}
