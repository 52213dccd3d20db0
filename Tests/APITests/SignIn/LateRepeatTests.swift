import HTTP
import JSON
import Testing
import Values

@testable import API

/// A refresh whose answer was lost, repeated after the leeway.
@Suite struct `A late repeat of a refresh` {
    /// A leaf that nobody has, and the one that took its place.
    private func lostAndFound(
        _ world: SignInWorld
    ) async throws -> (parent: JSON, void: JSON, leaf: JSON) {
        let parent = try await world.signIn("phone").json
        let lost = try await world.refresh(parent, "phone")
        #expect(lost.status == .ok)
        world.clock.advance(seconds: 3600)
        let found = try await world.refresh(parent, "phone")
        #expect(found.status == .ok)
        #expect(found.json["refresh_token"] != lost.json["refresh_token"])
        return (parent, lost.json, found.json)
    }

    private func isOver(_ world: SignInWorld) async throws -> Bool {
        try await world.events().contains("session.ended")
    }

    @Test func `a late repeat of a refresh gives a new token and voids the lost one`() async throws
    {
        let world = try await SignInWorld()
        let tokens = try await lostAndFound(world)
        #expect(try await world.refresh(tokens.leaf, "phone").status == .ok)
        #expect(try await !isOver(world))
        #expect(try await world.refresh(tokens.void, "phone").json["error"] == "invalid_grant")
        #expect(try await isOver(world))
    }

    @Test
    func `a late repeat of a refresh is followed by the end of the session if the void one comes`()
        async throws
    {
        let world = try await SignInWorld()
        let tokens = try await lostAndFound(world)
        #expect(try await world.refresh(tokens.void, "phone").json["error"] == "invalid_grant")
        #expect(try await isOver(world))
        #expect(try await world.refresh(tokens.leaf, "phone").json["error"] == "invalid_grant")
    }

    @Test func `a late repeat of a refresh leaves one active refresh token`() async throws {
        let world = try await SignInWorld()
        try await world.register(
            "backend", ["grant_types": ["urn:cocoar:otp", "refresh_token"]],
            secret: SignInWorld.secret)
        let basic = "backend:\(SignInWorld.secret.replacing(" ", with: "+"))"
        func refresh(_ tokens: JSON) async throws -> JSON {
            try await world.post(
                "/connect/token",
                form: [
                    ("grant_type", "refresh_token"),
                    ("refresh_token", tokens["refresh_token"]?.string ?? ""),
                ], basic: basic
            ).json
        }
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let parent = try await world.post(
            "/connect/token",
            form: [
                ("grant_type", "urn:cocoar:otp"), ("username", "ann@example.org"),
                ("otp_code", try await world.mailedCode()), ("scope", "openid offline_access"),
            ], basic: basic
        ).json
        let void = try await refresh(parent)
        world.clock.advance(seconds: 60)
        let leaf = try await refresh(parent)
        for (tokens, isActive) in [(parent, false), (void, false), (leaf, true)] {
            let token = try #require(tokens["refresh_token"]?.string)
            let answer = try await world.post(
                "/connect/introspect", form: [("token", token)], basic: basic)
            #expect(answer.json["active"] == .bool(isActive))
        }
        #expect(try await !isOver(world), "To ask about a token is not to use it.")
    }

    @Test(arguments: ["void", "parent"])
    func `a late repeat of a refresh leaves tokens whose revocation still ends the session`(
        which: String
    ) async throws {
        let world = try await SignInWorld()
        let tokens = try await lostAndFound(world)
        let access = try #require(tokens.leaf["access_token"]?.string)
        #expect(try await world.introspect(access)["active"] == true)
        let token = which == "void" ? tokens.void : tokens.parent
        let revoked = try await world.post(
            "/connect/revoke",
            form: [("client_id", "phone"), ("token", token["refresh_token"]?.string ?? "")])
        #expect(revoked.status == .ok)
        #expect(try await world.introspect(access)["active"] == false)
        #expect(try await world.refresh(tokens.leaf, "phone").json["error"] == "invalid_grant")
    }

    @Test func `a late repeat of a refresh by fifty connections at once gives one lineage`()
        async throws
    {
        let world = try await SignInWorld()
        let parent = try await world.signIn("phone").json
        _ = try await world.refresh(parent, "phone")
        world.clock.advance(seconds: 3600)
        let answers = try await withThrowingTaskGroup(of: JSON.self) { group in
            for _ in 0..<50 {
                group.addTask { try await world.refresh(parent, "phone").json }
            }
            return try await group.reduce(into: [JSON]()) { $0.append($1) }
        }
        let leaves = Set(answers.compactMap { $0["refresh_token"]?.string })
        #expect(leaves.count == 1)
        #expect(answers.allSatisfy { $0["refresh_token"] != nil })
        let refreshed = try await world.events().filter { $0 == "session.refreshed" }
        #expect(refreshed.count == 2)
    }

    @Test func `a late repeat of a refresh is reuse where the realm has no leeway or allows none`()
        async throws
    {
        for settings in [
            ["refresh_token_leeway": 0], ["refresh_token_late_repeat": 0],
        ] as [JSONObject] {
            let world = try await SignInWorld(
                settings.merging(["registration": "jit_on_otp"]) { own, _ in own })
            let parent = try await world.signIn("phone").json
            _ = try await world.refresh(parent, "phone")
            world.clock.advance(seconds: 3600)
            #expect(try await world.refresh(parent, "phone").json["error"] == "invalid_grant")
            #expect(try await isOver(world))
        }
    }
}
