internal import EventSourcing
internal import Identity
internal import JOSE
internal import JSON
internal import Mail
internal import ReadModels
internal import Values

/// Assertions that apps of the federation profile sign by keys of their own: first with the key and the person's
/// passphrase, shown by the app; then for services, which forward them.
extension Call<RealmContext> {
    /// Nil where it is not such an assertion.
    func redeemAppAssertion(_ request: GrantRequest) async throws(Problem) -> GrantOutcome? {
        guard let text = body["assertion"]?.string,
            let client = try await RealmLookups(context).client(named: request.clientID),
            client.metadata.rules.isFederationApp || client.metadata.rules.isFederationService
        else { return nil }
        let refused = Problem(.invalidRequest, "invalid assertion provided")
        guard let opened = try await context.opened(text) else { throw refused }
        guard let assertion = AppAssertion(opened) else {
            // What is encrypted to the realm, or shown by a version of the app, is nothing else.
            if opened != text || client.metadata.rules.isFederationApp { throw refused }
            return nil
        }
        let issuer = context.place.issuer
        guard body["scope"]?.string?.split(separator: " ").contains("openid") == true,
            assertion.isGood(
                for: [issuer, issuer + Place.tokenPath], at: context.clock.now())
        else { throw refused }
        let outcome: GrantOutcome?
        switch assertion.confirmation {
        case .key(let key): outcome = try await signInApp(by: assertion, key, client, request)
        case .name(let name): outcome = try await forwardAssertion(assertion, name, client, request)
        }
        guard case .success(let granted) = outcome else { throw refused }
        return .success(granted)
    }

    private func signInApp(
        by assertion: AppAssertion, _ shown: JSON, _ client: KnownClient, _ request: GrantRequest
    ) async throws(Problem) -> GrantOutcome? {
        guard client.metadata.rules.isFederationApp, assertion.text("iss") == request.clientID,
            let device = assertion.text("azp"), !assertion.holds("x_jwt"),
            let key = AppAssertion.ShownKey(shown)
        else { return nil }
        let provesKey = assertion.isSigned(by: shown)
        if !provesKey, await !isSigned(assertion, byVersion: client) { return nil }
        // A used assertion costs no comparison, and none of its person's attempts.
        let session = context.mint.session(ofSigned: assertion)
        guard try await RealmLookups(context).events(of: session).isEmpty else {
            context.recordRefusedAssertion(at: client, request.clientID, in: self.request)
            return nil
        }
        let stream = context.mint.federatedDevice(device, key: key.id)
        let counter = RateCounter(self)
        async let pause: Void = context.hesitate()
        try counter.count(.federationLogin, target: "device \(stream)")
        guard let name = assertion.text("sub"), let address = try? MailAddress(trimmed(name)),
            let typed = assertion.text("x_crd"), typed.utf8.count <= 1024
        else {
            await pause
            return nil
        }
        let mailbox = context.mint.mailbox(address.text)
        try counter.count(.federationLogin, target: mailbox.description)
        let compared = try await Passphrases(self).compare(typed, for: mailbox)
        let grant = AppSignInGrant(
            proof: PassphraseProof(
                mailbox: mailbox, comparison: compared.comparison, rehashed: compared.rehashed,
                second: SecondFactors(self).inGrant, mail: context.newID()),
            device: stream, session: session,
            keyID: key.id, key: key.kept, provesKey: provesKey, mail: context.newID(),
            name: assertion.text("name").flatMap { $0.utf8.count <= 100 ? $0 : nil })
        let outcome = try await Commands(self).attempt(
            RedeemGrant(grant, request), as: .client(request.clientID))
        guard case .success(.success(let granted)) = outcome else {
            await pause
            return nil
        }
        // Attempts that were right count for nothing.
        counter.giveBack()
        return .success(granted)
    }

    /// A version of the app may have a key of its own, which vouches for those of its devices.
    private func isSigned(
        _ assertion: AppAssertion, byVersion client: KnownClient
    ) async -> Bool {
        guard let source = KeySource(client.metadata.jwks, client.metadata.jwksURI) else {
            return false
        }
        do throws(TokenRejection) {
            try await context.remoteKeys.check(source) { keys throws(TokenRejection) in
                try assertion.verify(by: keys)
            }
            return true
        } catch {
            return false
        }
    }

    private func forwardAssertion(
        _ assertion: AppAssertion, _ keyName: String, _ client: KnownClient,
        _ request: GrantRequest
    ) async throws(Problem) -> GrantOutcome? {
        guard client.metadata.rules.isFederationService, keyName == assertion.keyID,
            // A service must not see a passphrase.
            !assertion.holds("x_crd"), let device = assertion.text("iss"),
            let place = assertion.text("azp"), client.metadata.redirectURIs.contains(place),
            let above = try await RealmLookups(context).folded(
                FederatedDevice.self, context.mint.federatedDevice(device, key: keyName)
            ).session,
            let session = try await context.live(above), let token = session.terms.federation,
            let key = token.confirmation, assertion.isSigned(by: key),
            try await isSubject(assertion.text("sub"), of: session)
        else { return nil }
        if assertion.holds("x_jwt") {
            guard let text = assertion.token, let shown = try await context.present(text),
                shown.session.id == above
            else { return nil }
        }
        var grant = AppAssertionGrant(
            assertion: context.mint.stream(of: assertion),
            session: context.mint.session(ofSigned: assertion), above: above,
            keyID: TokenMint.newKeyID())
        grant.service = client.id
        let outcome = try await Commands(self).attempt(
            RedeemGrant(grant, request), as: .client(request.clientID))
        guard case .success(.success(let granted)) = outcome else { return nil }
        return .success(granted)
    }

    /// The app names the person by their mail address, as it signed them in, or by what its ID token named them.
    private func isSubject(
        _ name: String?, of session: SessionView
    ) async throws(Problem) -> Bool {
        guard let name, let account = session.terms.account else { return false }
        if name == context.mint.subject(of: session.terms) { return true }
        guard let address = try? MailAddress(trimmed(name)) else { return false }
        let mailbox = context.mint.mailbox(address.text)
        return try await RealmLookups(context).folded(Mailbox.self, mailbox).account == account
    }
}
