import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

@Suite struct `Managing one's own account` {
    /// Every operation of it.
    private static let operations = API.realmTable.filter { $0.right == .account }

    private func statuses(_ site: Site, _ token: String) async throws -> [Status] {
        var statuses: [Status] = []
        for operation in Self.operations {
            let path = operation.path.description.split(separator: "/").map {
                $0.hasPrefix("{") ? UUID.random().description : String($0)
            }
            let answer = try await site.world.own(
                operation.method, "/" + path.joined(separator: "/"), token)
            statuses.append(answer.status)
        }
        return statuses
    }

    private func token(_ site: Site, _ client: String) async throws -> String {
        try await site.signIn()
        let code = try await site.code(Site.request([("client_id", client), ("scope", "openid")]))
        let tokens = try await site.redeem(code, [("client_id", client)])
        return try #require(tokens.json["access_token"]?.string)
    }

    @Test func `a token of a client that only identifies people opens no account route`()
        async throws
    {
        let site = try await Site()
        let token = try await token(site, "web")
        #expect(try await site.world.userInfo(token).status == .ok)
        let before = try await site.world.events().count
        #expect(Set(try await statuses(site, token)) == [.forbidden])
        #expect(try await site.world.events().count == before)
        #expect(try await site.world.userInfo(token).status == .ok, "It is no worse than before.")
    }

    @Test func `a token of an app that signs people in itself opens the account routes`()
        async throws
    {
        let site = try await Site()
        try await site.register(
            "own", ["grant_types": ["authorization_code", "refresh_token", "urn:cocoar:otp"]])
        let token = try await token(site, "own")
        #expect(try await !statuses(site, token).contains(.forbidden))
    }

    @Test func `user info is the only account route that every token opens`() {
        #expect(Self.operations.count >= 16)
        let open = API.realmTable.filter { $0.right == .bearer }
        #expect(Set(open.map(\.path.description)) == ["/connect/userinfo"])
    }
}
