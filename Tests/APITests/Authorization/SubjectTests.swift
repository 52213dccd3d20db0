import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

@Suite struct `The subject that a client is told` {
    private func tokens(_ world: AuthorizeWorld, _ client: String) async throws -> Answered {
        let host = client == "web" ? "web" : client
        let back = "https://\(host).example/back"
        let code = try await world.code(
            Site.request([("client_id", client), ("redirect_uri", back)]))
        return try await world.redeem(code, [("client_id", client), ("redirect_uri", back)])
    }

    @Test func `a pairwise subject differs by sector and is the same within one`() async throws {
        let world = try await Site(web: ["subject_type": "pairwise"])
        try await world.register(
            "other",
            [
                "subject_type": "pairwise", "access_token_format": "jwt",
                "redirect_uris": ["https://other.example/back"],
            ])
        try await world.register(
            "third",
            [
                "subject_type": "pairwise", "redirect_uris": ["https://third.example/back"],
                "sector_identifier_uri": "https://web.example/sector",
            ])
        try await world.signIn()
        let mine = try await tokens(world, "web")
        let other = try await tokens(world, "other")
        let third = try await tokens(world, "third")
        let subject = try await world.idToken(mine).subject
        #expect(subject != world.ann.description)
        #expect(try await world.idToken(other, client: "other").subject != subject)
        #expect(try await world.idToken(third, client: "third").subject == subject)
        // Wherever the client looks it is the same name.
        for answer in [mine, other] {
            let token = try #require(answer.json["access_token"]?.string)
            let client = answer.json == mine.json ? "web" : "other"
            let known = try await world.idToken(answer, client: client).subject
            #expect(try await world.world.userInfo(token).json["sub"] == .string(known))
            #expect(try await world.world.introspect(token)["sub"] == .string(known))
        }
        let token = try #require(other.json["access_token"]?.string)
        #expect(!token.contains(Base64URL.encode(Array(world.ann.description.utf8))))
        let hint = try #require(mine.json["id_token"]?.string)
        let again = try await world.authorize(
            Site.request([("prompt", "none"), ("id_token_hint", hint)]))
        #expect(try world.sent(again).with["code"] != nil)
    }

    @Test(arguments: ["RS256", "ES256"])
    func `user info is signed where the client asked for it`(algorithm: String) async throws {
        let world = try await Site(web: ["userinfo_signed_response_alg": .string(algorithm)])
        try await world.signIn()
        let token = try #require(
            try await tokens(world, "web").json["access_token"]?.string)
        let answer = try await world.world.userInfo(token)
        #expect(answer.response.headers["Content-Type"] == "application/jwt")
        let verified = try JWS.verify(
            String(decoding: answer.response.body, as: UTF8.self),
            by: try await world.world.keySet(),
            rules: JWS.Rules(types: TokenTypes(["userinfo+jwt"])))
        #expect(verified.algorithm.rawValue == algorithm)
        let claims = try Claims(payload: verified.payload)
        #expect(claims.issuer == Site.issuer && claims.audience == ["web"])
        #expect(claims.subject == world.ann.description)
        #expect(claims.members["email"] == "ann@example.org")
    }

    @Test func `user info takes its token in the header or in a form, once`() async throws {
        let world = try await Site()
        try await world.signIn()
        let token = try #require(
            try await tokens(world, "web").json["access_token"]?.string)
        let path = "/connect/userinfo"
        let byForm = try await world.world.post(path, form: [("access_token", token)])
        #expect(byForm.json["sub"] == .string(world.ann.description))
        let twice = try await world.world.post(
            path, form: [("access_token", token), ("access_token", token)])
        #expect(twice.status == .badRequest && twice.json["error"] == "invalid_request")
        let wrong = try await world.world.post(path, form: [("access_token", "x")])
        #expect(wrong.status == .unauthorized && wrong.json["error"] == "invalid_token")
        let byQuery = try await world.visit(path, [("access_token", token)])
        #expect(byQuery.status == .unauthorized)
        let byHeader = try await world.world.send(
            Request(
                method: .post, path: path, query: nil,
                headers: ["Host": "id.acme.example", "Authorization": "Bearer \(token)"],
                body: [], source: "203.0.113.7", id: "request-3"))
        #expect(byHeader.json == byForm.json)
        // Elsewhere a form carries no token.
        let elsewhere = try await world.world.post(
            "/api/account/logout-everywhere", form: [("access_token", token)])
        #expect(elsewhere.status == .unauthorized)
    }
}
