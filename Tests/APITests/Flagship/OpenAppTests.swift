import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `Opening a web app from the flagship app` {
    @Test func `COZ-21: opening an app returns all that the realm knows of it`() async throws {
        let world = try await FlagshipWorld(["language": "de", "accent_colour": "#0a7d5a"])
        try await world.add(FlagshipWorld.drive)
        let (_, access) = try await world.owned()
        let answer = try await world.open("drive", access)
        #expect(answer.status == .ok)
        #expect(answer.response.headers["Content-Type"] == "application/vnd.api+json")
        #expect(answer.json["data"]?["type"] == "io.cozy.apps.open")
        #expect(answer.json["data"]?["id"] == "drive")
        #expect(answer.json["data"]?["links"]?["self"] == "/apps/drive/open")
        let attributes = try #require(answer.json["data"]?["attributes"]?.object)
        #expect(
            attributes.keys.sorted() == [
                "AppEditor", "AppName", "AppNamePrefix", "AppSlug", "Capabilities", "Cookie",
                "CozyBar", "CozyClientJS", "CozyFonts", "DefaultWallpaper", "Domain", "Favicon",
                "Flags", "IconPath", "Locale", "SubDomain", "ThemeCSS", "Token", "Tracking",
                "Warnings",
            ])
        for (name, value) in [
            ("AppEditor", "Acme & Sons"), ("AppName", "Drive"), ("AppNamePrefix", "Acme"),
            ("AppSlug", "drive"), ("Domain", "id.acme.example"), ("SubDomain", "nested"),
            ("IconPath", "icon.svg"), ("Locale", "de"), ("Tracking", "false"),
            ("Flags", #"{"drive.beta":true}"#),
        ] {
            #expect(attributes[name] == .string(value), "\(name)")
        }
        let able = try JSON.parse(Array((attributes["Capabilities"]?.string ?? "").utf8))
        let settings = try await world.send(.get, "/settings/capabilities")
        #expect(able == settings.json["data"]?["attributes"])
        #expect(attributes["ThemeCSS"]?.string?.contains("http://id.acme.example/assets/") == true)
        // The sheet is there, without anybody being signed in.
        #expect(attributes["Warnings"] == [])
    }

    /// As the profile's app reads it: pairs behind "; ", of which one is named `cozysessid` or `sess-…`, and
    /// a domain. Without either it gives up what it has of the web app.
    private func cookie(in line: String) throws -> (name: String, value: String, domain: String) {
        var named: (name: String, value: String)?
        var domain: String?
        for part in line.components("; ") {
            let pair = part.components("=")
            if pair[0] == "cozysessid" || pair[0].hasPrefix("sess-") {
                named = (pair[0], try #require(pair.dropFirst().first))
            }
            if pair[0] == "Domain" { domain = pair.dropFirst().first }
        }
        let found = try #require(named)
        return (found.name, found.value, try #require(domain))
    }

    @Test func `COZ-21: opening an app returns the cookie in the form that the profile's apps use`()
        async throws
    {
        let world = try await FlagshipWorld()
        try await world.add(FlagshipWorld.drive)
        let (_, access) = try await world.owned()
        let answer = try await world.open("drive", access)
        let line = try #require(answer.json["data"]?["attributes"]?["Cookie"]?.string)
        let (name, value, domain) = try cookie(in: line)
        #expect(line == "cozysessid=\(value); Path=/; Domain=id.acme.example; HttpOnly")
        // It sets the cookie for this very host: another domain would be refused there.
        #expect(name == "cozysessid" && domain == "id.acme.example")
        #expect(Base64URL.decode(value)?.count == 48)
        #expect(answer.response.headers.all("Set-Cookie").isEmpty)
    }

    @Test(arguments: ["cozysessid", "__Host-urd"])
    func `COZ-21: opening an app signs a browser in at the app's host alone`(
        name: String
    ) async throws {
        let world = try await FlagshipWorld()
        try await world.add(FlagshipWorld.drive)
        try await world.add(["kind": "app", "slug": "notes", "name": "Notes"])
        let (_, access) = try await world.owned()
        let line = try await world.open("drive", access).json["data"]?["attributes"]?["Cookie"]
        let value = try cookie(in: try #require(line?.string)).value
        func status(_ host: String, _ path: String) async throws -> Status? {
            let browser = world.browser(at: host)
            browser.cookies[name] = value
            return try await browser.get(path).status
        }
        #expect(try await status("drive.id.acme.example", "/") == .ok)
        #expect(try await status("notes.id.acme.example", "/") == .seeOther)
        #expect(try await status("id.acme.example", "/account") == .seeOther)
        // A browser that is signed in there already stays so.
        let pair = "\(name)=\(value)"
        let again = try await world.open("drive", access, headers: ["Cookie": pair])
        #expect(again.json["data"]?["attributes"]?["Cookie"] == line)
        #expect(try await world.happened("browser.opened").count == 1)
        _ = try await world.open("notes", access, headers: ["Cookie": pair])
        _ = try await world.open("drive", access, headers: ["Cookie": "\(name)=x"])
        #expect(try await world.happened("browser.opened").count == 3)
    }

    /// A cookie with a domain may be set by whatever is below the realm's host.
    @Test func `COZ-21: opening an app prefers Urd's cookie to that of the profile's name`()
        async throws
    {
        let world = try await FlagshipWorld()
        try await world.add(FlagshipWorld.drive)
        let (_, access) = try await world.owned()
        let line = try await world.open("drive", access).json["data"]?["attributes"]?["Cookie"]
        let value = try cookie(in: try #require(line?.string)).value
        for (own, other) in [(value, "planted"), ("spoilt", value)] {
            let browser = world.browser(at: "drive.id.acme.example")
            browser.cookies["__Host-urd"] = own
            browser.cookies["cozysessid"] = other
            #expect(try await browser.get("/").status == .ok)
        }
        let browser = world.browser(at: "drive.id.acme.example")
        browser.cookies["cozysessid"] = "planted"
        #expect(try await browser.get("/").status == .seeOther)
    }

    @Test func `COZ-20: opening a konnector returns a token for half an hour`() async throws {
        let world = try await FlagshipWorld()
        let bank = try await world.add(FlagshipWorld.bank)
        let (app, access) = try await world.owned()
        let answer = try await world.konnectorToken("bank", access)
        #expect(answer.status == .created)
        let token = try #require(answer.json.string)
        let found = try await world.world.introspect(token)
        #expect(found["active"] == true)
        #expect(found["scope"] == "bills")
        #expect(found["client_id"] == .string(app.id))
        #expect(found["app_kind"] == "konnector")
        #expect(found["app_slug"] == "bank")
        let lifetime = (found["exp"]?.integer ?? 0) - (found["iat"]?.integer ?? 0)
        #expect(lifetime == 1_800)
        let opened = try #require(try await world.happened("session.opened").last)
        #expect(opened.open["web_app"] == .string(bank.description))
        #expect(opened.actor == "client:\(app.id)")
        world.world.clock.advance(seconds: 1_800)
        #expect(try await world.world.introspect(token) == ["active": false])
    }

    @Test func `COZ-21: opening an app returns a token of the app for a day`() async throws {
        let world = try await FlagshipWorld()
        try await world.add(FlagshipWorld.drive)
        let (_, access) = try await world.owned()
        let answer = try await world.open("drive", access)
        let token = try #require(answer.json["data"]?["attributes"]?["Token"]?.string)
        let found = try await world.world.introspect(token)
        #expect(found["scope"] == "files contacts:read")
        #expect(found["app_kind"] == "app")
        let lifetime = (found["exp"]?.integer ?? 0) - (found["iat"]?.integer ?? 0)
        #expect(lifetime == 86_400)
        world.world.clock.advance(seconds: 86_400)
        #expect(try await world.world.introspect(token)["active"] == false)
    }

    enum End: CaseIterable {
        case session, installation, account, everywhere, app
    }

    @Test(arguments: End.allCases)
    func `COZ-20: a konnector's token ends with the session that it came of`(_ end: End)
        async throws
    {
        let world = try await FlagshipWorld()
        let bank = try await world.add(FlagshipWorld.bank)
        let (app, access) = try await world.owned()
        let token = try #require(try await world.konnectorToken("bank", access).json.string)
        #expect(try await world.world.introspect(token)["active"] == true)
        switch end {
        case .session:
            let session = try #require(world.world.mint.readAccessToken(access)?.session)
            try await world.world.carryOut(
                EndSession(session: session, reason: .revoked, of: world.account))
        case .installation:
            _ = try await world.send(.delete, "/auth/register/\(app.id)", bearer: app.token)
        case .account: try await world.world.carryOut(AccountChange.disable(world.account))
        case .everywhere:
            try await world.world.carryOut(RotateSecurityStamp(account: world.account))
        case .app: try await world.remove(bank)
        }
        #expect(try await world.world.introspect(token) == ["active": false])
    }

    /// What an app is given is for what the app may, and never for what the flagship app may.
    @Test func `COZ-20: a konnector's token opens none of the flagship app's routes`() async throws
    {
        let world = try await FlagshipWorld()
        try await world.add(FlagshipWorld.drive)
        try await world.add(FlagshipWorld.bank)
        let (app, access) = try await world.owned()
        let opened = try await world.open("drive", access)
        let tokens = [
            try #require(try await world.konnectorToken("bank", access).json.string),
            try #require(opened.json["data"]?["attributes"]?["Token"]?.string),
        ]
        let before = try await world.world.events().count
        for token in tokens {
            for (method, path) in [
                (HTTP.Method.post, "/auth/session_code"), (.get, "/apps/drive/open"),
                (.post, "/auth/tokens/konnectors/bank"), (.get, "/settings/clients"),
                (.get, "/settings/clients-usage"), (.delete, "/settings/clients/\(app.id)"),
                (.post, "/settings/synchronized"), (.get, "/settings/passphrase"),
            ] {
                let answer = try await world.send(method, path, bearer: token)
                #expect(answer.status == .forbidden, "\(path)")
                #expect(answer.json["error"] == "Not authorized", "\(path)")
            }
            #expect(try await world.world.userInfo(token).status != .ok)
            let own = try await world.send(.get, "/api/account/passkeys", bearer: token)
            #expect(own.status == .unauthorized || own.status == .notFound)
        }
        #expect(try await world.world.events().count == before)
    }

    @Test func `COZ-21: opening an app is refused to other clients`() async throws {
        let world = try await FlagshipWorld()
        try await world.add(FlagshipWorld.drive)
        try await world.add(FlagshipWorld.bank)
        let (_, access) = try await world.owned()
        for path in ["/apps/drive/open", "/auth/tokens/konnectors/bank"] {
            let method: HTTP.Method = path.hasSuffix("open") ? .get : .post
            let none = try await world.send(method, path)
            #expect(none.status == .unauthorized)
            #expect(none.json["error"] == "No token in request")
            let bad = try await world.send(method, path, bearer: "x")
            #expect(bad.status == .badRequest)
        }
        // Each is looked for among its own kind.
        for path in ["/apps/bank/open", "/apps/nothing/open", "/apps/DRIVE/open"] {
            #expect(try await world.send(.get, path, bearer: access).status == .notFound)
        }
        for slug in ["drive", "nothing"] {
            #expect(try await world.konnectorToken(slug, access).status == .notFound)
        }
        // Somebody else's token of a lesser scope, let in on a page.
        let plain = try await world.register("Plain")
        let code = try #require(
            try await world.login(plain).json["session_code"]?.string)
        let request = InstallationRequest(app: plain, scope: "files")
        let browser = try await world.browser(code, at: request.place)
        try await browser.follow()
        let decided = try await browser.submit(
            "/auth/authorize", request.pairs + [("decision", "allow")])
        let given = try FlagshipWorld.code(in: decided.response.headers["Location"])
        let token = try #require(
            try await world.redeem(plain, given).json["access_token"]?.string)
        #expect(try await world.open("drive", token).status == .forbidden)
        #expect(try await world.konnectorToken("bank", token).status == .forbidden)
        let synchronized = try await world.send(.post, "/settings/synchronized", bearer: token)
        #expect(synchronized.status == .noContent)
    }
}

extension String {
    /// What stands between separators of several letters.
    fileprivate func components(_ separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
