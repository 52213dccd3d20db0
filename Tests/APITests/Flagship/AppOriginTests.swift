import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

/// Of the profile's sheet, section 1.5: an app signs its reader out, with its token and the cookie.
@Suite struct `A web app's logout` {
    private let drive = "http://drive.id.acme.example"
    private let notes = "https://notes.example"

    private struct Opened {
        let world: FlagshipWorld
        let access: String
        /// Of the app Drive.
        let token: String
        let browser: PageBrowser
    }

    private func opened() async throws -> Opened {
        let world = try await FlagshipWorld()
        try await world.add(FlagshipWorld.drive)
        try await world.add([
            "kind": "app", "slug": "notes", "name": "Notes", "permissions": ["notes"],
            "origin": .string(notes),
        ])
        let (_, access) = try await world.owned()
        let answer = try await world.open("drive", access)
        let token = answer.json["data"]?["attributes"]?["Token"]?.string
        return Opened(
            world: world, access: access, token: try #require(token),
            browser: try await browser(world))
    }

    private func browser(_ world: FlagshipWorld) async throws -> PageBrowser {
        let browser = PageBrowser(world.world)
        try await browser.get("/auth/login")
        try await browser.submit("/auth/login", [("passphrase", FlagshipWorld.hash)])
        return browser
    }

    private func ask(
        _ method: HTTP.Method, _ path: String, _ opened: Opened, _ origin: String?,
        token: String? = nil, cookie: Bool = true
    ) async -> Response {
        var headers: Headers = ["Host": "id.acme.example", "Sec-Fetch-Site": "same-site"]
        headers["Origin"] = origin
        if let token { headers["Authorization"] = "Bearer \(token)" }
        if cookie {
            headers["Cookie"] = opened.browser.cookies.map { "\($0.key)=\($0.value)" }.sorted()
                .joined(separator: "; ")
        }
        return await opened.world.world.router.respond(
            to: Request(
                method: method, path: path, query: nil, headers: headers, body: [],
                source: "203.0.113.7", id: "r"))
    }

    private func signedIn(_ opened: Opened) async throws -> Int? {
        try await opened.world.send(.get, "/settings/sessions", bearer: opened.access)
            .json["data"]?.array?.count
    }

    @Test(arguments: ["/auth/login", "/auth/login/others"])
    func `COZ-24: a web app's logout asks first and is closed to other scripts`(_ path: String)
        async throws
    {
        let opened = try await opened()
        for origin in [drive, notes] {
            let answer = await ask(.options, path, opened, origin, cookie: false)
            #expect(answer.status == .noContent)
            #expect(answer.headers["Access-Control-Allow-Origin"] == origin)
            #expect(answer.headers["Access-Control-Allow-Credentials"] == "true")
            #expect(answer.headers["Access-Control-Allow-Methods"] == "DELETE")
            #expect(
                answer.headers["Access-Control-Allow-Headers"]?.contains("Authorization") == true)
            #expect(answer.headers["Vary"]?.contains("Origin") == true)
        }
        for origin in [
            nil, "null", "http://evil.example", "https://drive.id.acme.example",
            "http://drive.id.acme.example.evil.example", "http://evil.drive.id.acme.example",
            "http://drive.id.acme.example:8443", "http://evildrive.id.acme.example",
        ] {
            let answer = await ask(.options, path, opened, origin, cookie: false)
            #expect(answer.status == .noContent)
            #expect(answer.headers["Access-Control-Allow-Origin"] == nil, "\(origin ?? "none")")
            #expect(answer.headers["Access-Control-Allow-Credentials"] == nil)
        }
    }

    @Test
    func `COZ-24: a web app's logout needs its own token beside the cookie, from its own origin`()
        async throws
    {
        let opened = try await opened()
        _ = try await browser(opened.world)
        let before = try #require(try await signedIn(opened))
        for (origin, token, cookie) in [
            (drive, nil, true), (drive, "x", true), (drive, opened.access, true),
            (drive, opened.token, false), (notes, opened.token, true),
            ("https://evil.example", opened.token, true), (nil, opened.token, true),
        ] as [(String?, String?, Bool)] {
            for path in ["/auth/login", "/auth/login/others"] {
                let answer = await ask(
                    .delete, path, opened, origin, token: token, cookie: cookie)
                #expect(answer.status == .unauthorized)
            }
        }
        #expect(try await signedIn(opened) == before)
        let others = await ask(
            .delete, "/auth/login/others", opened, drive, token: opened.token)
        #expect(others.status == .noContent)
        #expect(others.headers["Access-Control-Allow-Origin"] == drive)
        #expect(others.headers["Access-Control-Allow-Credentials"] == "true")
        #expect(try await signedIn(opened) == 1)
        let own = await ask(.delete, "/auth/login", opened, drive, token: opened.token)
        #expect(own.status == .noContent)
        #expect(own.headers["Access-Control-Allow-Origin"] == drive)
        #expect(try await signedIn(opened) == 0)
    }
}
