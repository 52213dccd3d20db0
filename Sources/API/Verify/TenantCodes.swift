internal import Cryptography
internal import HTTP
internal import Identity
internal import ReadModels
internal import Values

/// What the page for tenants answers an app with: a code that its verifier redeems, once.
struct TenantCodes {
    private let call: Call<RealmContext>
    private var context: RealmContext { call.context }

    init(_ call: Call<RealmContext>) { self.call = call }

    func make(
        for tenant: Tenant, _ redirectURL: String, _ challenge: SecretDigest,
        _ kind: VerifyRequest.Kind, _ browser: SignedInBrowser
    ) async throws(Problem) -> (text: String, number: Int64) {
        guard try await isStrongEnough(browser, for: tenant) else {
            throw Problem(
                .invalidRequest,
                "This service asks for a second factor, and the account has none: set one up on its page "
                    + "under Security (sign_in_level).")
        }
        guard let redirect = SecretDigest.of(redirectURL) else { throw Problem(.internalError) }
        let lifetime = context.place.settings[SettingCatalogue.codeLifetime]
        var code = AuthorizationCode(
            id: context.newID(), client: tenant.client.id, account: browser.subject,
            browser: browser.id, redirect: redirect, challenge: challenge,
            scope: [kind.scope],
            authenticatedAt: browser.authenticatedAt,
            factors: browser.methods.compactMap(AuthenticationFactor.init),
            expiresAt: context.clock.now().adding(seconds: lifetime),
            issuer: context.place.issuer)
        code.removals = browser.removals
        code.userAgent = call.request.headers["User-Agent"].map { String($0.prefix(255)) }
        guard let text = context.mint.authorizationCode(code) else { throw Problem(.internalError) }
        return (text, code.challengeNumber)
    }

    /// Refuses where the app asked for one person and the browser proved the address of another, who may hold that
    /// address by now.
    static func require(_ person: UUID?, _ browser: SignedInBrowser) throws(Problem) {
        guard person == nil || person == browser.subject else {
            throw Problem(
                .invalidRequest, "The address is of another person than cotter_user_id says.")
        }
    }

    /// Whether the sign-in was as strong as the tenant's app wants it.
    func isStrongEnough(
        _ browser: SignedInBrowser, for tenant: Tenant
    ) async throws(Problem) -> Bool {
        let settings = try await RealmLookups(context).settings(
            ofApp: tenant.client.metadata.appID ?? context.place.app)
        return settings?[SettingCatalogue.signInLevel] == .single
            || browser.level == AuthenticationLevel.multiple
    }

    func redirect(
        _ asked: VerifyRequest, _ browser: SignedInBrowser
    ) async throws(Problem) -> Response {
        try Self.require(asked.person, browser)
        let code = try await make(
            for: asked.tenant, asked.redirect, asked.challenge, asked.kind, browser)
        return .seeOther(
            asked.answer([("code", code.text), ("challenge_id", String(code.number))]))
    }
}

extension AuthorizationCode {
    /// An integer that belongs to the code, as apps keep one beside it. It fits where integers have 32 bits.
    var challengeNumber: Int64 {
        let digest = SHA256.hash(id.bytes)
        let number = digest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Int64(number & 0x7FFF_FFFF) | 1
    }
}
