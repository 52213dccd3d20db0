import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

/// Those of the modules for clients that register themselves in which keys change.
@Suite struct `OIDC dynamic, keys that rotate` {
    @Test func `OIDC dynamic 13: the provider's signing keys rotate`() async throws {
        let client = try await Dynamic()
        let world = client.world.world
        let before = Set(try await world.keySet().document.kids)
        let old = try await client.tokens()
        // A key is known before it signs: the first step shows it, the second one begins to use it.
        for _ in 0..<2 {
            try await world.carryOut(
                SigningKeyChange.rotate(
                    next: try NewSigningKey(.generate(.rs256)), now: world.clock.next()))
        }
        let after = Set(try await world.keySet().document.kids)
        #expect(before.isStrictSubset(of: after))
        #expect(try await client.idToken(old).subject == client.world.ann.description)
        // What is signed from now on is signed by another key, which everybody can find.
        let new = try await client.tokens()
        let keys = try [old, new].map {
            try header(of: try #require($0.json["id_token"]?.string))["kid"]?.string
        }
        #expect(keys[0] != keys[1] && keys.allSatisfy { after.contains($0 ?? "") })
        #expect(try await client.idToken(new).subject == client.world.ann.description)
    }

    @Test func `OIDC dynamic 14: the client's keys rotate at its jwks_uri`() async throws {
        let (old, new) = (try SigningKey.pooled(.es256), try SigningKey.pooled(.es256))
        let served = Served(KeySet([old.verificationKey]).document)
        let site = try await AuthorizeWorld(
            ["client_registration": "open"], fetchKeys: { _ in served.document.canonical() })
        try await site.signIn()
        let client = try await Dynamic(
            [
                "jwks_uri": "https://web.example/keys",
                "token_endpoint_auth_method": "private_key_jwt",
            ], site)
        let first = try await client.assert(by: old)
        #expect(first.status == .ok)
        served.document = KeySet([new.verificationKey]).document
        site.world.clock.advance(seconds: 60)
        let refreshed = try await client.assert(
            by: new,
            [
                ("grant_type", "refresh_token"),
                ("refresh_token", first.json["refresh_token"]?.string ?? ""),
            ])
        #expect(refreshed.status == .ok, "\(refreshed.json)")
        // The old one is no longer its key.
        let late = try await client.assert(by: old)
        #expect(late.status == .unauthorized && late.json["error"] == "invalid_client")
    }
}

extension JSON {
    fileprivate var kids: [String] { self["keys"]?.array?.compactMap { $0["kid"]?.string } ?? [] }
}
