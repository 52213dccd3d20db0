import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@Suite struct `A proof of a key` {
    private let proof = UsedProof(key: "k1", id: "j1", until: noon.adding(seconds: 90))
    private var claim: Claim { Claim("dpop_proof", "k1 j1", until: proof.until) }

    private func realm(_ metadata: JSONObject = [:]) throws -> Scenario {
        try givenNativeRealm(metadata: metadata).given(issued(), in: mailbox)
    }

    private func redeem(_ proof: UsedProof?) throws -> RedeemGrant<OTPGrant> {
        RedeemGrant(
            OTPGrant(mailbox: mailbox, digest: try digest(1), account: account),
            GrantRequest(
                client: client, clientID: "web", proof: .none, session: session, now: noon,
                keyProof: proof))
    }

    private func terms(key: String?) -> SessionTerms {
        SessionTerms(
            account: account, stamp: 0, client: client, clientID: "web", app: nil, scope: [],
            resources: [], factors: [.mailedCode], openedAt: noon,
            expiresAt: noon.adding(seconds: 365 * 86_400), isOffline: true, method: .nativeOTP,
            key: key)
    }

    @Test func `a DPoP proof is used up by its grant, once`() async throws {
        try await realm().when(redeem(proof)).thenRejected(.usedProof, whenTaken: claim)
        var decision = Decision()
        decision.take(claim, for: Realm.stream)
        try await givenRealm().when(UseProof(proof)).then(decision)
        try await givenRealm().when(UseProof(proof)).thenRejected(.used, whenTaken: claim)
    }

    @Test func `a DPoP proof binds a public client's refresh tokens`() async throws {
        let verdict = try await realm().when(redeem(proof))
        guard case .success(let decision) = verdict.result,
            let opened = decision.events.first(where: { $0.name == "session.opened" })
        else {
            Issue.record("Nobody is signed in.")
            return
        }
        #expect(opened.open["key"] == "k1")
        let bound = try givenNativeRealm().given(registeredAccount(), in: account)
            .given(SessionEvent.opened(terms(key: "k1")), in: session)
        func refresh(_ proof: UsedProof?) -> RedeemGrant<RefreshGrant> {
            RedeemGrant(
                RefreshGrant(session: session, generation: 0),
                GrantRequest(
                    client: client, clientID: "web", proof: .none, session: UUID(high: 9, low: 9),
                    now: noon, keyProof: proof))
        }
        try await bound.when(refresh(nil)).thenRejected(.invalidRefreshToken)
        try await bound.when(refresh(UsedProof(key: "k2", id: "j", until: noon)))
            .thenRejected(.invalidRefreshToken)
        var expected = Decision(SessionEvent.refreshed(generation: 1, at: noon), in: session)
        expected.take(claim, for: client)
        try await bound.when(refresh(proof)).then(expected)
    }

    @Test func `a DPoP proof is demanded of clients that registered for bound tokens`() async throws
    {
        try await realm(["dpop_bound_access_tokens": true]).when(redeem(nil))
            .thenRejected(.proofNeeded)
    }
}
