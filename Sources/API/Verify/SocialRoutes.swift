internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Signing in by one of the realm's OpenID providers for a tenant's app, in the place of a code.
enum SocialRoutes {
    static let pages: [Route<RealmContext>] = [leave, comeBack]
    static let table: [Route<RealmContext>] = [begin]

    static let leavePath = "/app/provider"
    static let backPath = "/app/social"

    static let parameter = Parameter(
        "provider", in: .query, .text(0...40), "Name of the OpenID provider to redirect to at once."
    )

    private static let leave = Route<RealmContext>(
        .post, "/app/provider", id: "leaveForVerifyProvider", tag: "Verify",
        summary: "Goes to an OpenID provider of the realm, for a tenant's app.", right: .nothing,
        voice: .verifyPage, parameters: VerifyRequest.parameters,
        body: .page([.optional("provider", .text(0...40), "Name of the provider.")]), answer: .page,
        refusals: Page.refusals + [.invalidRequest]
    ) { call throws(Problem) in
        let asked = try await call.verifyRequest()
        let visit = try await PageRequest(call).submission()
        guard let slug = call.body["provider"]?.string,
            try await call.providers(for: asked).contains(where: { $0.slug == slug })
        else { return .seeOther(asked.path(HostedPage.path)) }
        let visitor = SocialVisit(begunAt: call.context.clock.now(), binding: asked.binding(visit))
        guard let sealed = call.context.mint.seal(visitor.json, for: .verification) else {
            throw Problem(.internalError)
        }
        let back = ReturnTarget(path: asked.path(backPath, [("visit", sealed)]))
        return .seeOther(back.link("/oidc/start", [("provider", slug)]))
    }

    /// Behind the sign-in at the provider, in the browser that was sent there.
    private static let comeBack = Route<RealmContext>(
        .get, "/app/social", id: "returnToVerifyFromProvider", tag: "Verify",
        summary: "Goes back to the app as the person whom the provider named.", right: .nothing,
        voice: .verifyPage,
        parameters: VerifyRequest.parameters + [
            Parameter(
                "visit", in: .query, .text(0...2048), "Sealed state of the request at this page.")
        ], answer: .page, refusals: Place.refusals + [.invalidRequest], traits: .isReturnTarget
    ) { call throws(Problem) in
        let asked = try await call.verifyRequest()
        let visit = try await PageRequest(call).visit()
        guard let browser = visit.browser, browser.way == .provider,
            let begun = SocialVisit(call.text("visit"), call),
            begun.binding == asked.binding(visit),
            // Who was signed in before is asked, as everywhere.
            begun.begunAt.seconds <= browser.authenticatedAt.seconds,
            try await call.recognisedAddress(asked, visit) != nil
        else { return .seeOther(asked.path(HostedPage.path)) }
        return try await TenantCodes(call).redirect(asked, browser)
    }

    private static let begin = Route<RealmContext>(
        .get, "/api/v0/oauth/credential/login/{provider}", id: "beginSocialSignIn", tag: "Verify",
        summary: "Redirects to the page for tenants, which goes on to a provider.",
        right: .nothing, voice: .verify,
        parameters: [
            Parameter(
                "provider", in: .path, .text(1...40), "Name of the realm's provider.",
                example: "corporate"),
            Parameter("api_key_id", in: .query, .text(0...255), "API key of the tenant."),
            Parameter("redirect_url", in: .query, .text(0...2048), "Redirect URL of the response."),
            Parameter("state", in: .query, .text(0...2048), "Value that is returned unchanged."),
            Parameter(
                "code_challenge", in: .query, .text(0...200),
                "PKCE code challenge: SHA-256 of the verifier."),
        ], answer: .page, refusals: Place.refusals
    ) { call throws(Problem) in
        let pairs = [
            ("api_key", call.text("api_key_id") ?? ""), ("type", "EMAIL"),
            ("redirect_url", call.text("redirect_url") ?? ""),
            ("state", call.text("state") ?? ""),
            ("code_challenge", call.text("code_challenge") ?? ""),
            ("provider", try call.required("provider")),
        ]
        return .seeOther(
            "\(HostedPage.path)?\(Form.encode(pairs.map { (name: $0.0, value: $0.1) }))")
    }
}

/// A way to a provider and back that a person began on the page for tenants: good in their browser, for the tenant.
struct SocialVisit {
    let begunAt: Timestamp
    let binding: String

    var json: JSON {
        ["social": .string(binding), "begun": .integer(begunAt.seconds)]
    }

    init(begunAt: Timestamp, binding: String) {
        self.begunAt = begunAt
        self.binding = binding
    }

    /// Nil for a state that was not sealed here, or has expired.
    init?(_ sealed: String?, _ call: Call<RealmContext>) {
        guard let sealed,
            let members = call.context.mint.unseal(sealed, for: .verification)?.object,
            let binding = members["social"]?.string, let begun = members["begun"]?.integer,
            call.context.clock.now().seconds < begun + Self.patience
        else { return nil }
        self.init(begunAt: Timestamp(seconds: begun), binding: binding)
    }

    /// Seconds, for the provider and a second factor.
    private static let patience: Int64 = 1_200
}

extension Call<RealmContext> {
    /// By which providers a person may go on. What is asked for has to fit into the cookie that waits for them.
    func providers(for asked: VerifyRequest) async throws(Problem) -> [ProviderLabel] {
        guard asked.kind == .email, asked.path("").utf8.count <= 1_400 else { return [] }
        return try await RealmLookups(context).providerLabels()
    }
}

extension HostedPage {
    /// A form each: a browser is led away by a press of its button alone.
    var providerForms: HTML? {
        guard !providers.isEmpty else { return nil }
        let say = visit.say
        return HTML.element(.div, .class("providers")) {
            for provider in providers {
                visit.form(
                    asked.path(SocialRoutes.leavePath),
                    provider.slug == goesOnTo ? .id("direct") : .when(false, .hidden)
                ) {
                    Parts.hidden("provider", provider.slug)
                    Parts.button(
                        say(
                            "Continue with \(provider.name)", "Weiter mit \(provider.name)"),
                        look: "second")
                }
            }
        }
    }
}
