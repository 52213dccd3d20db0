import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@Suite struct `A client's assertion` {
    private let used = UsedAssertion(id: "j1", until: noon.adding(seconds: 60))
    private var claim: Claim { Claim("client_assertion", "web j1", until: used.until) }

    private func realm(_ metadata: JSONObject = [:]) throws -> Scenario {
        let keyed: JSONObject = [
            "grant_types": ["client_credentials"], "scope": "jobs",
            "token_endpoint_auth_method": "private_key_jwt",
            "jwks": ["keys": [["kty": "OKP", "crv": "Ed25519", "x": "AA"]]],
        ]
        return givenRealm().given(
            try registered(keyed.merging(metadata) { _, own in own }, secret: nil), in: client)
    }

    private func redeem(
        _ proof: ClientProof? = nil, scope: [String] = []
    ) -> RedeemGrant<ClientCredentialsGrant> {
        RedeemGrant(
            ClientCredentialsGrant(),
            GrantRequest(
                client: client, clientID: "web", proof: proof ?? .assertion(used), scope: scope,
                session: session, now: noon))
    }

    @Test func `a client assertion is accepted together with its grant, once`() async throws {
        try await realm().when(redeem()).thenRejected(.usedAssertion, whenTaken: claim)
    }

    @Test func `a client assertion is accepted of clients registered for assertions alone`()
        async throws
    {
        try await realm().when(redeem(ClientProof.none)).thenRejected(.invalidClient)
        try await realm(["token_endpoint_auth_method": "client_secret_basic", "jwks": .null])
            .when(redeem()).thenRejected(.invalidClient)
    }

    @Test func `a client assertion is accepted once where nothing is granted`() async throws {
        let use = UseAssertion(used, by: "web")
        var decision = Decision()
        decision.take(claim, for: Realm.stream)
        try await givenRealm().when(use).then(decision)
        try await givenRealm().when(use).thenRejected(.used, whenTaken: claim)
    }

    @Test func `a client assertion is not used up by a request that records nothing`() async throws
    {
        try await realm().when(redeem(scope: ["other"])).thenRejected(.unknownScope)
    }

    @Test func `a client assertion is forgotten some hours after it expired`() {
        #expect(claim.kind == "until 0000500002 client_assertion")
        #expect(Claim.purpose(of: claim.kind) == "client_assertion")
        #expect(Claim.purpose(of: "mailbox") == "mailbox")
        let earlier = Claim("x", "v", until: Timestamp(seconds: -1))
        #expect(earlier.kind == "until 0000000002 x" && earlier.kind < claim.kind)
    }
}
