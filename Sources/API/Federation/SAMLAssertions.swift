internal import EventSourcing
internal import Identity
internal import JSON
internal import Mail
internal import ReadModels
internal import SAML
internal import Values

/// Assertions of SAML 2.0 that the app shows to a service, of issuers whose certificates the realm keeps (RFC 7522).
struct SAMLAssertions {
    private let context: RealmContext

    init(_ context: RealmContext) { self.context = context }

    /// What opens a session by it. Nil for what is no good assertion: which rule it breaks is not told to a caller who
    /// shows it.
    ///
    /// - Parameter endpoint: the token endpoint that it is shown at.
    func grant(
        of text: String, for service: UUID, at endpoint: String
    ) -> OutsideAssertionGrant? {
        guard let name = try? SAML.claimedIssuer(in: text),
            let trusted = TrustedIssuer(
                name, in: context.place.settings[SettingCatalogue.assertionIssuers])
        else { return nil }
        let rules = SAML.Rules(
            issuers: [
                SAML.Issuer(
                    name: name, keys: trusted.certificates.compactMap { try? SAML.Key(text: $0) })
            ],
            audiences: [endpoint, context.place.issuer], recipients: [endpoint])
        guard let shown = try? SAML.verify(text, rules: rules, at: context.clock.now()),
            let subject = subject(of: shown, trusted.subject),
            let digest = SecretDigest.of("\(name.utf8.count) \(name) \(shown.id)")
        else { return nil }
        var grant = OutsideAssertionGrant(
            subject: subject, issuer: name, digest: digest, until: shown.acceptedUntil,
            keyID: TokenMint.newKeyID())
        grant.service = service
        return grant
    }

    private func subject(
        of shown: SAML.Assertion, _ rule: TrustedIssuer.SubjectRule
    ) -> JWTBearerGrant.Subject? {
        switch rule {
        case .account: return UUID(shown.nameID).map { .account($0) }
        case .email:
            guard let text = mail(of: shown), let address = try? MailAddress(text) else {
                return nil
            }
            return .mailbox(context.mint.mailbox(address.text))
        }
    }

    /// The name itself, where it is a mail address; else the one attribute that is.
    private func mail(of shown: SAML.Assertion) -> String? {
        if shown.nameIDFormat == Self.mailFormat { return shown.nameID }
        let all = Self.mailAttributes.flatMap { shown.values(of: $0) }
        return Set(all).count == 1 ? all.first : nil
    }

    private static let mailFormat = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
    private static let mailAttributes = ["urn:oid:0.9.2342.19200300.100.1.3", "mail", "email"]
}

extension GrantForm {
    /// A service that received an assertion of SAML shows it itself, for what OpenID gives (RFC 7522). Nothing is told
    /// of the error.
    static let samlBearer: GrantForm = {
        var form = GrantForm(OutsideAssertionGrant.self, []) { call, request throws(Problem) in
            let refused = GrantRefusal.invalidAssertion.problem
            let context = call.context
            guard let text = call.body["assertion"]?.string,
                let service = try await FederationServices(context).find(request.clientID)
            else { throw refused }
            guard
                var grant = SAMLAssertions(context).grant(
                    of: text, for: service.client.id,
                    at: context.place.issuer + Place.tokenPath)
            else {
                context.recordRefusedAssertion(
                    .saml, at: service.client, service.clientID, in: call.request)
                throw refused
            }
            grant.takesScope = true
            let outcome = try await Commands(call).attempt(
                RedeemGrant(grant, request), as: .client(request.clientID))
            switch outcome {
            case .success(.success(let granted)): return .success(granted)
            case .success(.failure): throw refused
            // Its decision left nothing on record.
            case .failure:
                context.recordRefusedAssertion(
                    .saml, at: service.client, service.clientID, in: call.request)
                throw refused
            }
        }
        form.isOfFederation = true
        form.names = ["params", "param"].map { "urn:ietf:\($0):oauth:grant-type:saml2-bearer" }
        return form
    }()
}
