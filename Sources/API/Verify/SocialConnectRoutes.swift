internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Connecting a person's account to one of the realm's OpenID providers, from a tenant's app. An access token names the
/// account, and the browser has to be signed in to the same account: the access token alone connects no provider.
enum SocialConnectRoutes {
    static let table: [Route<RealmContext>] = [begin]
    static let pages: [Route<RealmContext>] = [ask, comeBack]

    static let path = "/app/connect"
    fileprivate static let backPath = "/app/connect/done"

    private static let wanted = Parameter(
        "to", in: .query, .text(0...4096), "Sealed request of the app.")

    private static let begin = Route<RealmContext>(
        .get, "/api/v0/oauth/credential/connect/{provider}", id: "beginSocialConnect",
        tag: "Verify", summary: "Redirects to the page that connects an account to a provider.",
        detail: """
            A browser is led here, which is why the access token is in the address. The person confirms on a \
            page of the realm, signed in to the same account.
            """,
        right: .nothing, voice: .verify,
        parameters: [
            Parameter(
                "provider", in: .path, .text(1...40), "Name of the realm's provider.",
                example: "corporate"),
            Parameter("api_key_id", in: .query, .text(0...255), "API key of the tenant."),
            Parameter("access_token", in: .query, .text(0...8192), "Access token of the person."),
            Parameter("redirect_url", in: .query, .text(0...1024), "Redirect URL of the response."),
        ], answer: .page,
        refusals: Place.refusals + [.forbidden, .invalidRequest, .noSuchProvider]
    ) { call throws(Problem) in
        let tenant = try await call.tenant(call.text("api_key_id"))
        let redirect = call.text("redirect_url") ?? ""
        guard TenantPlace(redirect)?.isAllowed(by: tenant.places) == true else {
            throw call.notAllowed(redirect, tenant)
        }
        try TenantRedirect.check(redirect, for: TenantRedirect.ofConnections)
        let token = call.text("access_token") ?? ""
        guard let account = try await call.tenantSession(of: token, tenant)?.session.terms.account
        else {
            throw Problem(.forbidden, "This needs an access token of the person (access_token).")
        }
        let slug = try call.required("provider")
        guard try await RealmLookups(call.context).provider(slug) != nil else {
            throw Problem(.noSuchProvider)
        }
        let connection = SocialConnection(
            account: account, provider: slug, tenant: tenant.apiKey, redirect: redirect)
        return .seeOther(try connection.page(path, call))
    }

    private static let ask = Route<RealmContext>(
        .get, "/app/connect", id: "showSocialConnect", tag: "Verify",
        summary: "Asks whether to connect an account to a provider.", right: .nothing,
        voice: .verifyPage, parameters: [wanted], answer: .page, refusals: Place.refusals,
        traits: .isReturnTarget
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        return try await call.connecting(visit) { connection, provider throws(Problem) in
            let say = visit.say
            let tenant = try await call.tenant(connection.tenant)
            let back = try connection.page(backPath, call)
            let title = say("Connect \(provider.name)", "\(provider.name) verbinden")
            return visit.page(title, leadsAway: true) {
                Page.card {
                    HTML.element(.h1) { title }
                    HTML.element(.p) {
                        say(
                            "You can then sign in here with that account. You chose this in ",
                            "Sie können sich dann mit jenem Konto hier anmelden. Gewählt haben Sie das in "
                        )
                        HTML.element(.strong) {
                            tenant.name ?? say("an app", "einer App")
                        }
                        "."
                    }
                    visit.form("/account/providers/connect") {
                        Parts.hidden("provider", provider.slug)
                        Parts.hidden("next", back)
                        Parts.button(say("Connect", "Verbinden"))
                    }
                    HTML.element(.div, .class("links")) {
                        Parts.link(
                            say("Cancel", "Abbrechen"),
                            to: back + "&error=access_denied")
                    }
                }
            }
        }
    }

    /// Behind the provider, or by the link of a person who would rather not.
    private static let comeBack = Route<RealmContext>(
        .get, "/app/connect/done", id: "returnConnected", tag: "Verify",
        summary: "Goes back to the app.", right: .nothing, voice: .verifyPage,
        parameters: [
            wanted,
            Parameter(
                "error", in: .query, .text(0...40), "Error code, if no identity is connected."),
        ], answer: .page, refusals: Place.refusals, traits: .isReturnTarget
    ) { call throws(Problem) in
        guard let connection = SocialConnection(call.text("to"), call) else {
            return call.tooLate(try await PageRequest(call).visit())
        }
        return .seeOther(connection.answer(isDenied: call.text("error") == "access_denied"))
    }
}

/// What a tenant's app wants connected, as it stands in the address of the page that asks the person.
private struct SocialConnection: Sendable {
    let account: UUID
    let provider: String
    let tenant: String
    let redirect: String

    /// Seconds, for a sign-in here and one at the provider.
    private static let patience: Int64 = 1_200

    func page(_ path: String, _ call: Call<RealmContext>) throws(Problem) -> String {
        let until = call.context.clock.now().adding(seconds: Self.patience)
        let members: JSONObject = [
            "connects": .string(account.description), "provider": .string(provider),
            "tenant": .string(tenant), "redirect": .string(redirect),
            "until": .integer(until.seconds),
        ]
        guard let sealed = call.context.mint.seal(.object(members), for: .verification) else {
            throw Problem(.internalError)
        }
        return "\(path)?to=\(Percent.encode(sealed))"
    }

    func answer(isDenied: Bool) -> String {
        let query = isDenied ? "error=access_denied" : "provider=\(Percent.encode(provider))"
        return TenantPlace.adding(query, to: redirect)
    }

    init(account: UUID, provider: String, tenant: String, redirect: String) {
        self.account = account
        self.provider = provider
        self.tenant = tenant
        self.redirect = redirect
    }

    /// Nil for a state that was not sealed here, or has expired.
    init?(_ sealed: String?, _ call: Call<RealmContext>) {
        guard let sealed,
            let members = call.context.mint.unseal(sealed, for: .verification)?.object,
            let account = members["connects"]?.string.flatMap({ UUID($0) }),
            let provider = members["provider"]?.string, let tenant = members["tenant"]?.string,
            let redirect = members["redirect"]?.string, let until = members["until"]?.integer,
            call.context.clock.now().seconds < until
        else { return nil }
        self.init(account: account, provider: provider, tenant: tenant, redirect: redirect)
    }
}

extension Call<RealmContext> {
    /// Works for a person who signed in, a short while ago, to the account that an app wants connected. Others are
    /// led to the sign-in page.
    fileprivate func connecting(
        _ visit: PageVisit,
        _ work: (SocialConnection, Provider) async throws(Problem) -> Response
    ) async throws(Problem) -> Response {
        guard let connection = SocialConnection(text("to"), self),
            let provider = try await RealmLookups(context).provider(connection.provider)
        else { return tooLate(visit) }
        var here = ReturnTarget(path: try connection.page(SocialConnectRoutes.path, self))
        guard let browser = visit.browser else { return .seeOther(here.link("/login")) }
        guard browser.subject == connection.account else {
            here.asOther = true
            return visit.notice(
                visit.say("Another account", "Ein anderes Konto"),
                visit.say(
                    "You are signed in here with another account than in the app.",
                    "Sie sind hier mit einem anderen Konto angemeldet als in der App."),
                .forbidden,
                link: (visit.say("Sign in", "Anmelden"), here.link("/login")))
        }
        guard PageRequest(self).isRecent(browser) else { return .seeOther(here.link("/login")) }
        return try await work(connection, provider)
    }

    fileprivate func tooLate(_ visit: PageVisit) -> Response {
        visit.notice(
            visit.say("Too late", "Zu spät"),
            visit.say(
                "Go back to the app and begin again.",
                "Gehen Sie zurück zur App und beginnen Sie von vorn."), .badRequest)
    }
}
