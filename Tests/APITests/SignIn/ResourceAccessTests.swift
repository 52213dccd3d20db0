import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

private let api = "https://api.acme.example"
private let files = "https://files.acme.example"

/// Sheet 5.5: `resource_access[audience]{roles, permissions}`.
@Suite struct `MOD-18: Access at an audience` {
    private static let everything = "openid email profile roles permissions offline_access shop"

    /// Ann writes and reads at one resource, and reads at another and where a scope leads.
    private func world(_ format: String = "reference") async throws -> SignInWorld {
        let world = try await SignInWorld([
            "registration": "jit_on_otp",
            "roles": [
                .init(api): ["writer": ["texts:write", "texts:read"], "reader": ["texts:read"]],
                .init(files): ["reader": ["files:read"]], "shop": ["clerk": ["orders:read"]],
            ],
        ])
        try await world.registerPhone(
            "responseCache",
            ["scope": .string(Self.everything), "access_token_format": .string(format)])
        _ = try await world.signIn("phone")
        try await give(
            [api: ["writer", "reader"], files: ["reader"], "shop": ["clerk"]], world)
        return world
    }

    private func give(_ roles: [String: [String]], _ world: SignInWorld) async throws {
        let event = try await world.log.events(from: 1, limit: .max, in: world.realm)
            .first { $0.name == "account.registered" }
        try await world.carryOut(
            AccountChange.giveRoles(try #require(event?.stream), roles: GivenRoles(roles)))
    }

    private func token(_ answer: Answered) throws -> String {
        #expect(answer.status == .ok, "\(answer.json)")
        return try #require(answer.json["access_token"]?.string)
    }

    private func userInfo(
        _ scope: String, _ world: SignInWorld, _ resources: [String] = []
    ) async throws -> JSON {
        let answer = try await world.signIn("responseCache", scope: scope, resource: resources)
        return try await world.userInfo(try token(answer)).json
    }

    @Test func `MOD-18: access at user info covers the resources that were asked for`() async throws
    {
        let world = try await world()
        let told = try await userInfo("openid roles permissions", world, [api])
        #expect(
            told["resource_access"] == [
                .init(api): [
                    "roles": ["reader", "writer"], "permissions": ["texts:read", "texts:write"],
                ]
            ])
    }

    @Test func `MOD-18: access covers an audience that the scope names`() async throws {
        let told = try await userInfo(Self.everything, try await world())
        #expect(
            told["resource_access"] == [
                "shop": ["roles": ["clerk"], "permissions": ["orders:read"]]
            ])
        #expect(told["preferred_username"] == "ann@example.org")
    }

    @Test func `MOD-18: access is limited by the scope`() async throws {
        let world = try await world()
        let roles = try await userInfo("openid roles", world, [files])
        #expect(roles["resource_access"] == [.init(files): ["roles": ["reader"]]])
        let permissions = try await userInfo("openid permissions", world, [files])
        #expect(permissions["resource_access"] == [.init(files): ["permissions": ["files:read"]]])
        let neither = try await userInfo("openid profile", world, [files])
        #expect(neither["resource_access"] == nil && neither["preferred_username"] == nil)
        #expect(try await userInfo("openid roles", world)["resource_access"] == nil)
    }

    @Test func `MOD-18: access at user info covers what the token kept`() async throws {
        let world = try await world()
        let tokens = try await world.signIn(
            "responseCache", scope: "openid roles offline_access", resource: [api, files])
        let narrow = try await world.refresh(tokens.json, "responseCache", [("resource", files)])
        let told = try await world.userInfo(try token(narrow)).json
        #expect(told["resource_access"] == [.init(files): ["roles": ["reader"]]])
    }

    @Test func `MOD-18: access of a reference token is that of the present`() async throws {
        let world = try await world()
        let text = try token(
            try await world.signIn("responseCache", scope: "openid roles", resource: [api]))
        #expect(
            try await world.introspect(text)["resource_access"]
                == [.init(api): ["roles": ["reader", "writer"]]])
        try await give([api: ["reader"]], world)
        #expect(
            try await world.introspect(text)["resource_access"]
                == [.init(api): ["roles": ["reader"]]])
        try await give([:], world)
        #expect(try await world.introspect(text)["resource_access"] == nil)
    }

    @Test func `MOD-18: access stands in a JWT for the audiences that the token kept`() async throws
    {
        let world = try await world("jwt")
        func access(_ answer: Answered) throws -> JSON? {
            let payload = try token(answer).split(separator: ".").dropFirst().first
            let bytes = try #require(payload.flatMap { Base64URL.decode(String($0)) })
            return try JSON.parse(bytes)["resource_access"]
        }
        let tokens = try await world.signIn(
            "responseCache", scope: "openid permissions offline_access", resource: [api, files])
        #expect(
            try access(tokens) == [
                .init(api): ["permissions": ["texts:read", "texts:write"]],
                .init(files): ["permissions": ["files:read"]],
            ])
        let narrow = try await world.refresh(tokens.json, "responseCache", [("resource", files)])
        #expect(try access(narrow) == [.init(files): ["permissions": ["files:read"]]])
    }

    @Test func `MOD-18: access leaves out a role that the realm deleted`() async throws {
        let world = try await SignInWorld([
            "registration": "jit_on_otp", "roles": ["shop": ["clerk": []]],
        ])
        try await world.registerPhone("responseCache", ["scope": "openid roles shop"])
        _ = try await world.signIn("phone")
        try await give(["shop": ["clerk"]], world)
        world.directory.add(
            world.realm, hosts: [], ["registration": "jit_on_otp", "native_grants": true])
        #expect(
            try await userInfo("openid roles shop", world)["resource_access"] == nil)
    }
}
