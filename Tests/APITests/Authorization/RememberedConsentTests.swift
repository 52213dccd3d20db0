import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

@Suite struct `Remembered consent` {
    private let calendar = "https://calendar.example/back"

    private func site(_ more: JSONObject = [:], _ settings: JSONObject = [:]) async throws -> Site {
        let unchecked: JSONObject = [
            "consent": "needed", "resources_listed_only": true, "application_type": "native",
            "redirect_uris": [
                .string(calendar), "https://calendar.example/other", "https://evil.example/back",
                "com.evil.app:/back",
            ],
        ]
        let site = try await Site(settings, web: unchecked.merging(more) { $1 })
        try await site.signIn()
        return site
    }

    private func asking(_ place: String, _ more: Pairs = []) -> Pairs {
        Site.request([("redirect_uri", place)] + more.filter { $0.name != "scope" })
            .map { $0.name == "scope" ? more.first { $0.name == "scope" } ?? $0 : $0 }
    }

    private func isRemembered(_ site: Site, _ request: Pairs) async throws -> Bool {
        let answer = try await site.authorize(request + [("prompt", "none")])
        if try site.fault(answer) == "consent_required" { return false }
        return try site.sent(answer).with["code"] != nil
    }

    private func agree(_ site: Site, _ request: Pairs) async throws {
        let asked = try site.sent(try await site.authorize(request))
        #expect(asked.to == "/consent")
        let sealed = try #require(asked.with["continue"])
        let returnTarget = try #require(
            try await site.decide(sealed, allows: true).with["continue"])
        #expect(
            try site.sent(try await site.authorize([("continue", returnTarget)])).with["code"]
                != nil)
    }

    @Test(arguments: ["https://evil.example/back", "com.evil.app:/back"])
    func `consent to an unverified client holds for the redirect host that was shown`(
        other: String
    ) async throws {
        let site = try await site()
        try await agree(site, asking(calendar))
        #expect(try await isRemembered(site, asking(calendar)))
        #expect(try await isRemembered(site, asking("https://calendar.example/other")))
        let narrow: Pairs = [("scope", "openid")]
        #expect(try await !isRemembered(site, asking(other)))
        #expect(try await !isRemembered(site, asking(other, narrow)))
        // One after the other, each as far as it was agreed to.
        try await agree(site, asking(other, narrow))
        #expect(try await isRemembered(site, asking(other, narrow)))
        #expect(try await !isRemembered(site, asking(other)))
        #expect(try await isRemembered(site, asking(calendar)))
    }

    @Test func `consent to an unverified client does not hold for a redirect host added later`()
        async throws
    {
        let site = try await site([:], ["client_registration": "open"])
        let plain: JSONObject = [
            "client_name": "Web", "redirect_uris": [.string(calendar)],
            "token_endpoint_auth_method": "none", "scope": "openid email",
        ]
        let made = try await site.world.registerItself(plain)
        let id = try #require(made.json["client_id"]?.string)
        let token = try #require(made.json["registration_access_token"]?.string)
        let own: Pairs = [("client_id", id), ("scope", "openid email")]
        func request(_ place: String) -> Pairs { Site.request([("redirect_uri", place)] + own) }
        try await agree(site, request(calendar))
        #expect(try await isRemembered(site, request(calendar)))
        for place in ["https://evil.example/back", "com.evil.app:/back"] {
            let changed = try await site.world.call(
                .put, "/connect/register/\(id)", bearer: token,
                .object(
                    plain.merging([
                        "client_id": .string(id), "redirect_uris": [.string(place)],
                        "application_type": "native",
                    ]) { $1 }))
            #expect(changed.status == .ok)
            #expect(try await !isRemembered(site, request(place)))
        }
    }

    @Test func `consent to a verified client holds for each of its redirect hosts`() async throws {
        let site = try await site(["resources_listed_only": false])
        try await agree(site, asking(calendar))
        #expect(try await isRemembered(site, asking("com.evil.app:/back")))
        // It was shown no place: so nothing of it counts once nobody answers for the client.
        let client = try #require(
            try await MemoryQueries(log: site.world.log).ask(
                KnownClient.byClientID, "web", in: site.world.realm))
        var members = client.metadata.members
        members["resources_listed_only"] = true
        try await site.world.carryOut(UpdateClient(id: client.id, metadata: members))
        #expect(try await !isRemembered(site, asking(calendar)))
        try await agree(site, asking(calendar))
        // And the other way round all of it does.
        members["resources_listed_only"] = nil
        try await site.world.carryOut(UpdateClient(id: client.id, metadata: members))
        #expect(try await isRemembered(site, asking("com.evil.app:/back")))
    }

    @Test(arguments: [false, true])
    func `consent holds for the resources that were shown`(isUnchecked: Bool) async throws {
        let (one, two) = ("https://one.example/api", "https://two.example/api")
        let site = try await site([
            "resources_listed_only": .bool(isUnchecked),
            "resources": [.string(one), .string(two)],
        ])
        func request(_ resources: String...) -> Pairs {
            asking(calendar, resources.map { ("resource", $0) })
        }
        try await agree(site, request())
        #expect(try await isRemembered(site, request()))
        #expect(try await !isRemembered(site, request(one)))
        try await agree(site, request(one))
        #expect(try await isRemembered(site, request(one)))
        #expect(try await !isRemembered(site, request(two)))
        #expect(try await !isRemembered(site, request(one, two)))
        try await agree(site, request(two))
        #expect(try await isRemembered(site, request(one, two)))
        #expect(try await isRemembered(site, request()))
    }

    @Test func `consent is never asked for by clients with consent set to none, for any resource`()
        async throws
    {
        let site = try await site(["consent": "none", "resources_listed_only": false])
        #expect(
            try await isRemembered(site, asking(calendar, [("resource", "https://one.example")])))
    }

    @Test func `consent is asked for again once a trusted client gets another redirect host`()
        async throws
    {
        let site = try await site([
            "resources_listed_only": false, "consent": "none", "redirect_uris": [.string(calendar)],
        ])
        let client = try #require(
            try await MemoryQueries(log: site.world.log).ask(
                KnownClient.byClientID, "web", in: site.world.realm))
        let token = site.world.mint.registrationAccessToken(ofClient: client.id)
        let evil = "https://evil.example/back"
        for (place, consent) in [(calendar, "none"), (evil, "needed")] {
            var members = client.metadata.members
            members["client_id"] = "web"
            members["redirect_uris"] = [.string(place)]
            let changed = try await site.world.call(
                .put, "/connect/register/web", bearer: token, .object(members))
            #expect(changed.status == .ok && changed.json["consent"]?.string == consent)
            #expect(try await isRemembered(site, asking(place)) == (consent == "none"))
        }
    }
}
