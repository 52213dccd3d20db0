internal import EventSourcing
internal import Identity
internal import JOSE
internal import JSON
internal import Mail
internal import Values

extension GrantForm {
    /// Its member `assertion` is described with the passkeys'.
    static let jwtBearer = GrantForm { call throws(Problem) -> JWTBearerGrant in
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
