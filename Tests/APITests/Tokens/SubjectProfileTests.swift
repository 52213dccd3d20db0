import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

@Suite struct `The subject profile of a token` {
    private func guarded(_ token: String, _ site: AuthorizeWorld) async throws -> Answered {
        try await site.world.send(
            Request(
                method: .get, path: "/connect/guard",
                query: "client_id=web&resource=https://api.example",
                headers: ["Host": "id.acme.example", "Authorization": "Bearer \(token)"],
                body: [], source: "203.0.113.7", id: "request-15"))
    }

    /// In the token, at introspection and at the guard.
    @Test(arguments: ["reference", "jwt"])
    func `a token's subject profile says person or client`(format: String) async throws {
        let site = try await Site(web: ["access_token_format": .string(format)])
        try await site.signIn()
        try await site.register(
            "jobs",
            [
                "grant_types": ["client_credentials"], "redirect_uris": [], "scope": "jobs",
                "access_token_format": .string(format),
            ])
        let api: (name: String, value: String) = ("resource", "https://api.example")
        let person = try await site.redeem(try await site.code(Site.request([api])))
        let service = try await site.world.post(
            "/connect/token",
            form: [
                ("grant_type", "client_credentials"), ("client_id", "jobs"),
                ("client_secret", SignInWorld.secret), api,
            ])
        for (answer, profile, subject) in [
            (person, "user", site.ann.description), (service, "service", "jobs"),
        ] {
            let token = try #require(answer.json["access_token"]?.string)
            let known = try await site.world.introspect(token)
            #expect(known["sub_profile"]?.string == profile && known["sub"]?.string == subject)
            if format == "jwt" {
                #expect(try JWTWorld.claims(token)["sub_profile"]?.string == profile)
            }
            let passed = try await guarded(token, site)
            #expect(passed.status == .ok)
            #expect(passed.json["sub_profile"]?.string == profile)
            #expect(passed.response.headers["Urd-Subject-Profile"] == profile)
            #expect(passed.response.headers["Urd-Subject"] == subject)
        }
    }

    /// RFC 9700 section 4.15.
    @Test func `a token's subject profile is never person for a client that acts for itself`()
        async throws
    {
        let site = try await Site(
            ["client_registration": "open"], web: ["subject_type": "pairwise"])
        try await site.signIn()
        let pairwise = try await site.idToken(try await site.redeem(try await site.code())).subject
        for name in [site.ann.description, site.ann.description.uppercased(), pairwise] {
            await #expect(throws: RegisterClient.Rejection.self) {
                try await site.world.register(
                    name, ["grant_types": ["client_credentials"]], secret: "hush")
            }
            // Who registers itself does not choose its name.
            let made = try await site.world.registerItself(["client_id": .string(name)])
            #expect(made.json["client_id"]?.string != name)
        }
    }

    @Test
    func `user info accepts a token that is for the issuer, not for another resource alone`()
        async throws
    {
        let api = "https://api.example"
        for format in ["reference", "jwt"] {
            // Lists of resources do not keep a client from the issuer.
            let site = try await Site(
                web: ["access_token_format": .string(format), "resources": [.string(api)]])
            try await site.signIn()
            for (resources, status) in [
                ([], Status.ok), ([api], .unauthorized), ([api, Site.issuer], .ok),
                ([Site.issuer], .ok),
            ] as [([String], Status)] {
                let pairs = Site.request(resources.map { (name: "resource", value: $0) })
                let answer = try await site.redeem(try await site.code(pairs))
                let token = try #require(answer.json["access_token"]?.string)
                let told = try await site.world.userInfo(token)
                #expect(told.status == status, "\(format) \(resources)")
                if status == .unauthorized { #expect(told.json["error"] == "invalid_token") }
                // One that reaches further is narrowed to user info by a refresh.
                guard resources.count == 2 else { continue }
                let next = try await site.world.post(
                    "/connect/token",
                    form: [
                        ("grant_type", "refresh_token"), ("client_id", "web"),
                        ("client_secret", SignInWorld.secret), ("resource", api),
                        ("refresh_token", answer.json["refresh_token"]?.string ?? ""),
                    ])
                let narrow = try #require(next.json["access_token"]?.string)
                #expect(try await site.world.userInfo(narrow).status == .unauthorized)
            }
        }
    }
}
