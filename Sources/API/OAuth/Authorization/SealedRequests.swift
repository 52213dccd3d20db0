internal import HTTP

/// The requests that the authorization endpoint sealed, as pages see them.
struct SealedRequests: ApplicationRequests {
    func pending(_ sealed: String, in context: RealmContext) -> PendingRequest? {
        context.authorizationRequest(sealed).map {
            PendingRequest(client: $0.client, clientID: $0.clientID, languages: $0.languages)
        }
    }

    func request(
        _ sealed: String, for browser: SignedInBrowser?, _ call: Call<RealmContext>
    ) async throws(Problem) -> ApplicationRequest? {
        guard let asked = try await call.pendingAuthorization(sealed, for: browser) else {
            return nil
        }
        let needsMore =
            asked.level.map { !AuthenticationLevel.reaches(browser?.level, oneOf: [$0]) } ?? false
        return ApplicationRequest(
            clientName: asked.clientName, site: asked.clientURI, leadsTo: asked.leadsTo,
            policy: asked.policyURI, terms: asked.termsURI, hasLogo: asked.logoURI != nil,
            asks: asked.asks, remembered: asked.remembered, hint: asked.loginHint,
            needsNoSignIn: !asked.needsSignIn,
            asksForAnother: asked.choosesAccount || asked.expectsAnother, needsMore: needsMore,
            mayStepUp: needsMore && browser != nil && !asked.repeatsLogin
                && !asked.choosesAccount)
    }

    func decide(
        _ sealed: String, allows: Bool, as browser: SignedInBrowser, _ call: Call<RealmContext>
    ) async throws(Problem) -> Response {
        try await call.decideConsent(sealed, allows: allows, as: browser)
    }
}
