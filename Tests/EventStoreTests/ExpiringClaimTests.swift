import EventSourcing
import Testing
import Values

@testable import EventStore

@Suite struct `A claim that is over` {
    @Test func `an expired claim is released, and no other`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let (realm, other) = (newRealm(), newRealm())
        let claims = [
            Claim("assertion", "old", until: Timestamp(seconds: 1_000_000_000)),
            Claim("assertion", "young", until: Timestamp(seconds: 9_000_000_000)),
            Claim("mailbox", "for ever"), Claim("zone", "for ever"),
        ]
        func take(_ claim: Claim, in realm: RealmID) async throws -> AppendOutcome {
            let stream = newID()
            return try await store.log.append(
                commit(to: stream, in: realm, claims: [.take(claim, for: stream)]))
        }
        for claim in claims {
            for realm in [realm, other] { try expectWon(await take(claim, in: realm)) }
        }
        #expect(try await store.log.forgetOldClaims(in: realm) == 1)
        #expect(try await store.log.forgetOldClaims(in: realm) == 0)
        for claim in claims.dropFirst() {
            #expect(try await take(claim, in: realm) == .taken(kind: claim.kind))
        }
        try expectWon(await take(claims[0], in: realm))
        #expect(try await take(claims[0], in: other) == .taken(kind: claims[0].kind))
    }
}
