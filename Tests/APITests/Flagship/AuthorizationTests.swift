import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

/// A request of an installation, and what it keeps of it.
struct InstallationRequest {
    static let verifier = String(repeating: "v", count: 43)
    var app: TestInstallation
    var scope = "*"

    var pairs: [(name: String, value: String)] {
        [
            ("state", "a state"), ("client_id", app.id), ("redirect_uri", "cozy://"),
            ("response_type", "code"), ("scope", scope),
            (
                "code_challenge",
                Base64URL.encode(SHA256.hash(Array(Self.verifier.utf8)))
            ), ("code_challenge_method", "S256"),
        ]
    }

    var place: String { "/auth/authorize?\(Form.encode(pairs))" }

    func changed(_ name: String, _ value: String?) -> String {
        var pairs = pairs.filter { $0.name != name }
        if let value { pairs.append((name, value)) }
        return "/auth/authorize?\(Form.encode(pairs))"
    }
}

extension FlagshipWorld {
    /// A browser in which the owner is signed in, by a session code.
    func browser(_ code: String, at place: String) async throws -> PageBrowser {
        let browser = PageBrowser(world)
        try await browser.get("\(place)&session_code=\(code)")
        #expect(browser.place == place)
        return browser
    }

    func redeem(
        _ app: TestInstallation, _ code: String,
        verifier: String? = InstallationRequest.verifier
    ) async throws -> Answered {
        var form = [
            (name: "grant_type", value: "authorization_code"), ("client_id", app.id),
            ("client_secret", app.secret), ("code", code),
        ]
        if let verifier { form.append(("code_verifier", verifier)) }
        return try await send(.post, "/auth/access_token", form: form)
    }

    /// The token of an app that the owner lets in on a page, with this scope alone.
    func consented(_ app: TestInstallation, _ scope: String) async throws -> String {
        let code = try #require(try await login(app).json["session_code"]?.string)
        let asked = InstallationRequest(app: app, scope: scope)
        let browser = try await browser(code, at: asked.place)
        try await browser.get(asked.place)
        let decided = try await browser.submit(
            "/auth/authorize", asked.pairs + [("decision", "allow")])
        let tokens = try await redeem(
            app, try FlagshipWorld.code(in: decided.response.headers["Location"]))
        return try #require(tokens.json["access_token"]?.string)
    }

    /// The code in what an app is sent.
    static func code(in location: String?) throws -> String {
        let link = try #require(location)
        let query = try #require(link.split(separator: "?").last?.split(separator: "#").first)
        let pairs = try #require(Form.parse(Array(query.utf8)))
        let codes = pairs.filter { ["code", "access_code"].contains($0.name) }.map(\.value)
        #expect(codes.count == 2 && Set(codes).count == 1)
        #expect(pairs.contains { $0.name == "state" && $0.value == "a state" })
        #expect(link.hasSuffix("#"))
        return try #require(codes.first)
    }
}

@Suite struct `An owner's consent page` {
    /// Taken over by another app, so that this one has to ask.
    private func world() async throws -> (FlagshipWorld, code: () async throws -> String) {
        let world = try await FlagshipWorld()
        let first = try await world.register("First")
        _ = try await world.onboard(first)
        return (
            world,
            { try #require(try await world.login(first).json["session_code"]?.string) }
        )
    }

    @Test func `COZ-09: an owner certifies an app with the mailed code, once and in time`()
        async throws
    {
        let (world, code) = try await world()
        let request = InstallationRequest(app: try await world.register())
        let browser = try await world.browser(try await code(), at: request.place)
        try await browser.follow()
        #expect(browser.shows("Is this your app?"))
        let digits = try await world.mailedDigits()
        let token = try #require(browser.value(of: "token"))
        func certify(_ digits: String, _ token: String, as app: TestInstallation? = nil)
            async throws -> Answered
        {
            try await world.send(
                .post, "/auth/clients/\((app ?? request.app).id)/flagship",
                form: [("code", digits), ("token", token)])
        }
        let wrong = try await certify(digits == "111111" ? "2" : "111111", token)
        #expect(wrong.status == .unauthorized)
        #expect(wrong.json == ["error": "invalid code"])
        #expect(try await certify(digits, "x").status == .unauthorized)
        #expect(
            try await certify(digits, token, as: try await world.register("Other")).status
                == .unauthorized)
        #expect(
            try await world.send(
                .post, "/auth/clients/00000000000000000000000000000000/flagship",
                form: [("code", digits), ("token", token)]
            ).status == .notFound)
        // A reload mails another code, and the one before is worth nothing.
        try await browser.get(request.place)
        let next = try #require(browser.value(of: "token"))
        #expect(try await certify(digits, token).status == .unauthorized)
        let newDigits = try await world.mailedDigits()
        #expect(try await certify(newDigits, next).status == .noContent)
        #expect(try await certify(newDigits, next).status == .unauthorized)
        let found = try await world.send(
            .get, "/auth/register/\(request.app.id)", bearer: request.app.token)
        #expect(found.json["flagship"] == true)
        #expect(found.json["certified_from_store"] == nil)
        try await browser.get(request.place)
        #expect(browser.shows("see and change all your data"))
    }

    @Test func `COZ-09: guesses at certification codes add up over codes, apps and nodes`()
        async throws
    {
        let (world, code) = try await world()
        let apps = [try await world.register("First app"), try await world.register("Second app")]
        let node = world.world.otherNode()
        var guesses = 0
        for app in apps {
            let request = InstallationRequest(app: app)
            let browser = try await world.browser(try await code(), at: request.place)
            try await browser.follow()
            let digits = try await world.mailedDigits()
            func certify(_ digits: String) async throws -> Status {
                await world.world.post(
                    "/auth/clients/\(app.id)/flagship",
                    form: [("code", digits), ("token", browser.value(of: "token") ?? "")], at: node
                ).status
            }
            for _ in 0..<MailedCode.attempts {
                #expect(try await certify(digits == "111111" ? "2" : "111111") == .unauthorized)
                guesses += 1
            }
        }
        #expect(try await world.happened("mailed_code.refused").count == guesses)
        // Ten guesses in an hour are all that there are: of a third app no code is taken either.
        func certifyRightly(_ name: String) async throws -> Status {
            let request = InstallationRequest(app: try await world.register(name))
            let browser = try await world.browser(try await code(), at: request.place)
            try await browser.follow()
            return await world.world.post(
                "/auth/clients/\(request.app.id)/flagship",
                form: [
                    ("code", try await world.mailedDigits()),
                    ("token", try #require(browser.value(of: "token"))),
                ], at: node
            ).status
        }
        #expect(try await certifyRightly("Third app") == .unauthorized)
        #expect(try await world.happened("mailed_code.refused").count == guesses)
        world.world.clock.advance(seconds: 3_600)
        #expect(try await certifyRightly("Fourth app") == .noContent)
    }

    @Test func `COZ-09: guesses at certification codes are limited on the page as elsewhere`()
        async throws
    {
        let (world, code) = try await world()
        let request = InstallationRequest(app: try await world.register())
        let browser = try await world.browser(try await code(), at: request.place)
        try await browser.follow()
        let digits = try await world.mailedDigits()
        let path = "/auth/clients/\(request.app.id)/flagship"
        func submit(_ digits: String) async throws -> Status {
            try await browser.submit(
                path,
                [
                    ("code", digits), ("token", browser.value(of: "token") ?? ""),
                    ("next", request.place),
                ]
            ).status
        }
        for _ in 0..<MailedCode.attempts {
            #expect(try await submit(digits == "111111" ? "2" : "111111") == .unauthorized)
            #expect(browser.shows("wrong or has expired"))
        }
        #expect(try await submit(digits) == .unauthorized)
        try await browser.get(request.place)
        #expect(try await submit(try await world.mailedDigits()) == .seeOther)
        try await browser.follow()
        #expect(browser.shows("Allow Phone?"))
    }

    @Test
    func `COZ-10: the consent page redirects with the code under both names, or with an error`()
        async throws
    {
        let (world, code) = try await world()
        let request = InstallationRequest(app: try await world.certified())
        let browser = try await world.browser(try await code(), at: request.place)
        try await browser.follow()
        #expect(browser.shows("Allow Phone?"))
        #expect(
            try await browser.submit(
                "/auth/authorize", request.pairs + [("decision", "allow")], token: "x"
            ).status == .forbidden)
        try await browser.get(request.place)
        let denied = try await browser.submit(
            "/auth/authorize", request.pairs + [("decision", "deny")])
        #expect(
            denied.response.headers["Location"]?.hasPrefix("cozy://?error=access_denied") == true)
        try await browser.get(request.place)
        let allowed = try await browser.submit(
            "/auth/authorize", request.pairs + [("decision", "allow")])
        #expect(allowed.status == .found)
        let given = try FlagshipWorld.code(in: allowed.response.headers["Location"])
        let tokens = try await world.redeem(request.app, given)
        #expect(tokens.status == .ok)
        #expect(tokens.json["scope"] == "*")
        let access = try #require(tokens.json["access_token"]?.string)
        #expect(try await world.sessionCode(access).status == .created)
        try await browser.get(request.place)
        let link = try await browser.submit(
            "/auth/authorize", request.pairs + [("decision", "allow")],
            token: nil, ["Accept": "application/json"])
        #expect(link.status == .ok)
        _ = try FlagshipWorld.code(in: link.json["deeplink"]?.string)
    }

    /// A code that was not redeemed yet, of a certified installation beside another one.
    private func codeOfTwo() async throws -> (
        FlagshipWorld, app: TestInstallation, other: TestInstallation, given: String
    ) {
        let (world, code) = try await world()
        let (app, other) = (try await world.certified(), try await world.certified("Other"))
        let request = InstallationRequest(app: app)
        let browser = try await world.browser(try await code(), at: request.place)
        try await browser.follow()
        let allowed = try await browser.submit(
            "/auth/authorize", request.pairs + [("decision", "allow")])
        return (
            world, app, other, try FlagshipWorld.code(in: allowed.response.headers["Location"])
        )
    }

    @Test(arguments: ["by another installation", "an hour later", "without its verifier"])
    func `COZ-08: a flagship code shown again by any installation, or later, ends what it gave`(
        how: String
    ) async throws {
        let (world, app, other, given) = try await codeOfTwo()
        let access = try #require(
            try await world.redeem(app, given).json["access_token"]?.string)
        if how == "an hour later" { world.world.clock.advance(seconds: 3600) }
        let again = try await world.redeem(
            how == "by another installation" ? other : app, given,
            verifier: how == "without its verifier" ? nil : "v")
        #expect(again.json["error"] == "invalid code")
        #expect(try await world.world.events().last { $0.hasPrefix("session.") } == "session.ended")
        #expect(try await world.sessionCode(access).json["error"] == "Invalid JWT token")
    }

    @Test func `COZ-08: a flagship code gives all scopes for its verifier alone, once`()
        async throws
    {
        let (world, app, other, given) = try await codeOfTwo()
        func refused(_ answer: Answered, _ error: JSON) {
            #expect(answer.status == .badRequest)
            #expect(answer.json["error"] == error)
        }
        refused(try await world.redeem(app, ""), "the code parameter is mandatory")
        refused(try await world.redeem(app, "x"), "invalid code")
        refused(try await world.redeem(other, given), "invalid code")
        // What is wrong with the verifier uses nothing up.
        refused(try await world.redeem(app, given, verifier: nil), "invalid code_verifier")
        refused(try await world.redeem(app, given, verifier: "v"), "invalid code_verifier")
        let tokens = try await world.redeem(app, given)
        #expect(tokens.status == .ok)
        // Somebody else has it as well: all of it is over.
        refused(try await world.redeem(app, given), "invalid code")
        let access = try #require(tokens.json["access_token"]?.string)
        #expect(try await world.sessionCode(access).json["error"] == "Invalid JWT token")
    }

    @Test func `COZ-08: a request for all scopes is refused on a page for every redirect URI`()
        async throws
    {
        let (world, code) = try await world()
        let request = InstallationRequest(app: try await world.certified())
        let browser = try await world.browser(try await code(), at: request.place)
        let wrong: [(String, String?)] = [
            ("state", nil), ("client_id", nil), ("client_id", "x"), ("redirect_uri", nil),
            ("redirect_uri", "cozy://evil"), ("redirect_uri", "COZY://"),
            ("response_type", nil), ("response_type", "token"), ("scope", nil),
            ("scope", "* files"), ("code_challenge", nil), ("code_challenge", "short"),
            ("code_challenge_method", nil), ("code_challenge_method", "plain"),
        ]
        for (name, value) in wrong {
            let answer = try await browser.get(request.changed(name, value))
            #expect(answer.status == .badRequest, "\(name) \(value ?? "-")")
            #expect(answer.response.headers["Location"] == nil)
        }
        let nobody = PageBrowser(world.world)
        try await nobody.get(request.place)
        #expect(nobody.place?.hasPrefix("/auth/login?redirect=") == true)
        try await nobody.follow()
        #expect(nobody.answer?.status == .ok)
        #expect(nobody.shows("/login?next=%2Fauth%2Fauthorize"))
    }

    @Test func `COZ-19: a session code opens one web view within five minutes`() async throws {
        let (world, code) = try await world()
        let request = InstallationRequest(app: try await world.certified())
        let text = try await code()
        let browser = try await world.browser(text, at: request.place)
        #expect(try await browser.follow().status == .ok)
        let thief = PageBrowser(world.world)
        try await thief.get("\(request.place)&session_code=\(text)")
        #expect(thief.place == request.place)
        #expect(thief.cookies["__Host-urd"] == nil)
        for bad in ["x", String(repeating: "A", count: 32)] {
            try await thief.get("\(request.place)&session_code=\(bad)")
            #expect(thief.cookies["__Host-urd"] == nil)
        }
        world.world.clock.advance(seconds: 300)
        try await browser.get(request.place)
        #expect(browser.place?.hasPrefix("/auth/login") == true)
        let old = try await code()
        world.world.clock.advance(seconds: SessionCode.lifetime)
        try await thief.get("\(request.place)&session_code=\(old)")
        #expect(thief.cookies["__Host-urd"] == nil)
    }

    @Test func `COZ-19: a session code used fifty times at once opens one web view`() async throws {
        let (world, code) = try await world()
        let request = InstallationRequest(app: try await world.certified())
        let place = "\(request.place)&session_code=\(try await code())"
        let parts = place.split(separator: "?", maxSplits: 1).map(String.init)
        let router = world.world.router
        let cookies = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let answer = await router.respond(
                        to: Request(
                            method: .get, path: parts[0], query: parts[1],
                            headers: ["Host": "id.acme.example"], body: [],
                            source: "203.0.113.7", id: "r"))
                    return answer.headers.all("Set-Cookie").count { $0.hasPrefix("__Host-urd=") }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(cookies == 1)
        #expect(try await world.happened("session_code.used").count == 1)
    }
}
