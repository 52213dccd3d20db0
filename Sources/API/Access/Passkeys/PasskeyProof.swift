internal import Identity
internal import JSON
internal import ReadModels
internal import SecurityKeys
internal import Values

/// Verifies what users sign in with who have a passkey.
struct PasskeyProofs {
    private let call: Call<RealmContext>

    init(_ call: Call<RealmContext>) { self.call = call }

    private var context: RealmContext { call.context }

    /// The passkey response of a ceremony that was begun for this client or for no named client.
    func grant(mayRemember: Bool = false) async throws(Problem) -> PasskeyGrant {
        let client = try call.caller.client
        let party = try await RealmLookups(context).passkeyParty(
            app: client.metadata.appID ?? context.place.app,
            domain: client.metadata.passkeyDomain)
        // One that was begun without a client is for every client of the same domain.
        let ceremonies = [client.clientID, nil].compactMap { name in
            party.map {
                Ceremony(kind: .signIn, client: name, account: nil, relyingParty: $0.id)
            }
        }
        guard let party, let id = call.body["ceremony_id"]?.string.flatMap({ UUID($0) }),
            let ceremony = ceremonies.first(where: { context.mint.isOurs(id, $0) })
        else { return PasskeyGrant(ceremony: nil, proof: .nothing) }
        guard let text = call.body["assertion"]?.string else {
            return PasskeyGrant(ceremony: id, proof: .nothing)
        }
        let challenge = context.mint.challenge(id, ceremony)
        return PasskeyGrant(
            ceremony: id,
            proof: try await proof(text, challenge: challenge, party, mayRemember: mayRemember))
    }

    /// Cached passkeys let no user in whom the log does not let in, and keep none out: what cannot
    /// be verified with them is looked up.
    func proof(
        _ text: String, challenge: [UInt8], _ party: PasskeyParty, mayRemember: Bool = false
    ) async throws(Problem) -> PasskeyGrant.Proof {
        let assertion: PublicKeyCredential.Assertion
        do throws(WebAuthnFailure) {
            assertion = try PublicKeyCredential.Assertion(text: Array(text.utf8))
        } catch {
            return .refused(reason: error.description, account: nil)
        }
        let (known, realm) = (context.passkeys, context.place.realm)
        if mayRemember, let passkey = known.find(assertion.id, in: realm),
            case .verified(var use) = verify(assertion, with: passkey, challenge, party)
        {
            use.isRemembered = true
            return .verified(use)
        }
        guard let passkey = try await RealmLookups(context).passkey(ofCredential: assertion.id)
        else {
            known.forget(assertion.id, in: realm)
            return .refused(reason: "unknown_passkey", account: nil)
        }
        let proof = verify(assertion, with: passkey, challenge, party)
        if case .verified = proof { known.keep(passkey, in: realm) }
        return proof
    }

    private func verify(
        _ assertion: PublicKeyCredential.Assertion, with passkey: PasskeyView,
        _ challenge: [UInt8], _ party: PasskeyParty
    ) -> PasskeyGrant.Proof {
        let stored = StoredCredential(
            id: passkey.credential, publicKey: passkey.publicKey,
            signCount: UInt32(clamping: passkey.counter),
            backupEligible: passkey.isBackupEligible,
            userHandle: PasskeyOptions.userHandle(of: passkey.account))
        do throws(WebAuthnFailure) {
            let outcome = try Assertion.verify(
                assertion, stored: stored, challenge: challenge,
                relyingParty: party.relyingParty, requiresUserVerification: true,
                identifiesUser: true)
            // Whether the counter has gone on is decided with what the log knows.
            return .verified(
                PasskeyUse(
                    passkey: passkey.id, relyingParty: party.id,
                    counter: Int64(outcome.signCount),
                    isBackupEligible: passkey.isBackupEligible, isBackedUp: outcome.backedUp))
        } catch {
            return .refused(reason: error.description, account: passkey.account)
        }
    }
}
