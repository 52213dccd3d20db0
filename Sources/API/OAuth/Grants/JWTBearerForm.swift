internal import EventSourcing
internal import Identity
internal import JOSE
internal import JSON
internal import Mail
internal import Values

extension GrantForm {
    /// Documents of the federation profile write its name with `param`, its standard with `params`.
    static let jwtBearer: GrantForm = {
        var form = bearer
        form.names.append("urn:ietf:param:oauth:grant-type:jwt-bearer")
        return form
    }()

    /// Its member `assertion` is described with the passkeys'.
    private static let bearer = GrantForm(JWTBearerGrant.self, []) {
        call, request throws(Problem) in
        if call.context.place.settings.rules.servesFederation {
            if let outcome = try await call.redeemAppAssertion(request) { return outcome }
            if let outcome = try await call.redeemRelayed(request) { return outcome }
        }
        return try await Commands(call).dispatch(
            RedeemGrant(try await read(call), request), as: .client(request.clientID))
    }

    private static func read(
        _ call: Call<RealmContext>
    ) async throws(Problem) -> JWTBearerGrant {
        guard let text = call.body["assertion"]?.string else {
            throw Problem(.invalidRequest, "assertion is required.")
        }
        let refused = GrantRefusal.invalidAssertion.problem
        let context = call.context
        guard let claimed = try? SignedStatement.Claimed(text),
            let trusted = TrustedIssuer(
                claimed.issuer, in: context.place.settings[SettingCatalogue.assertionIssuers]),
            let source = KeySource(trusted.jwks, trusted.jwksURI)
        else { throw refused }
        let rules = ClaimRules(
            issuer: claimed.issuer, audience: .isOnly([context.place.issuer]), longestLifetime: 3600
        )
        let now = context.clock.now()
        do throws(TokenRejection) {
            let found = try await context.remoteKeys.check(source) { keys throws(TokenRejection) in
                try SignedStatement.checkAssertion(
                    claimed, rules: rules, keys: keys, algorithms: ClientKeys.known,
                    at: now)
            }
            guard let subject = call.subject(of: found.statement.claims, trusted.subject) else {
                throw TokenRejection.wrongSubject
            }
            return JWTBearerGrant(
                subject: subject, issuer: claimed.issuer, id: found.id, until: found.until)
        } catch {
            throw refused
        }
    }
}

extension Call<RealmContext> {
    /// An assertion of this realm that its service received from the app, and shows itself. Nil for another issuer's.
    fileprivate func redeemRelayed(
        _ request: GrantRequest
    ) async throws(Problem) -> GrantOutcome? {
        guard let text = body["assertion"]?.string,
            let service = try await FederationServices(context).find(request.clientID)
        else { return nil }
        if let claimed = try? SignedStatement.Claimed(text),
            claimed.issuer != context.place.issuer
        {
            return nil
        }
        // One answer to all that is wrong with it, as clients of the profile know it.
        let refused = Problem(.invalidRequest, "invalid assertion provided")
        guard body["scope"]?.string?.split(separator: " ").contains("openid") == true,
            let id = try await AssertionText(context).read(text, for: service)
        else { throw refused }
        var grant = FederatedAssertionGrant(
            assertion: context.mint.federatedAssertion(id),
            session: context.mint.session(ofKey: id), keyID: id,
            audience: context.place.endpoint(of: service))
        grant.isRelayed = true
        let outcome = try await Commands(self).attempt(
            RedeemGrant(grant, request), as: .client(request.clientID))
        guard case .success(.success(let granted)) = outcome else { throw refused }
        return .success(granted)
    }

    fileprivate func subject(
        of claims: Claims, _ rule: TrustedIssuer.SubjectRule
    ) -> JWTBearerGrant.Subject? {
        switch rule {
        case .account: return claims.subject.flatMap { UUID($0) }.map { .account($0) }
        case .email:
            guard claims.members["email_verified"] == true,
                let email = claims.members["email"]?.string, let address = try? MailAddress(email)
            else { return nil }
            return .mailbox(context.mint.mailbox(address.text))
        }
    }
}
