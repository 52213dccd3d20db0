internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Where a script of one of the realm's own pages signs its browser in by a mailed link. The page of the
/// link does the same with a form.
enum MagicLoginRoutes {
    static let table: [Route<RealmContext>] = [login]

    private static let login = Route<RealmContext>(
        .post, "/api/account/magic-link/login", id: "loginByMagicLink", tag: "Native sign-in",
        summary: "Signs a browser in by a mailed link.",
        detail: """
            The session is a cookie. Where a second factor is owed nothing is used up: the same is \
            sent once more, with it.
            """,
        right: .nothing, voice: .native,
        body: Body(
            schema: .object(
                .optional("UserId", .text(0...64), "Account id in the link."),
                .optional("Token", .text(0...128), "Token in the mailed link."),
                .optional(
                    "TotpCode", .text(0...128),
                    "TOTP code of the authenticator app, or a recovery code.")),
            example: ["UserId": "0193a0e7-1c5e-7b46-9a4c-0f0c3c6b1a2b", "Token": "…"]),
        answer: .ok(
            "The browser is signed in, or another factor is asked for.",
            .object(
                .required("RequiresMfa", .boolean, "Whether a second factor is required."),
                .optional(
                    "MfaMethods", .list(of: .text(1...20), 1...4),
                    "Second factors that are accepted."),
                .optional("ReturnUrl", .text(1...2048), "Path to which the link leads on.")),
            example: ["RequiresMfa": false, "ReturnUrl": "/account"]),
        refusals: Place.refusals + [.invalidLink, .foreignForm, .rateLimited], traits: .setsCookies
    ) { call throws(Problem) in
        try await call.loginByLink()
    }
}

extension Call<RealmContext> {
    fileprivate func loginByLink() async throws(Problem) -> Response {
        // Login CSRF: a foreign page could sign the user in to another account.
        guard request.isSent(fromPagesOf: context.place.host) else { throw Problem(.foreignForm) }
        let user = body["UserId"]?.string ?? ""
        let token = body["Token"]?.string ?? ""
        // One that is not good goes to the decision too, which puts it on record.
        let link = try await MagicLinks(context).find(user, token)
        try RateCounter(self).count(.emailOTPVerify, heldBy: link.map { "link \($0.id)" })
        guard let account = UUID(user), let shown = context.mint.shown(magicToken: token) else {
            throw Problem(.invalidLink)
        }
        let second = SecondFactors(self).typed(body["TotpCode"]?.string)
        if let link, second == nil,
            try await SecondFactors(self).state(of: link.account).enrolled != nil
        {
            return .native(.ok, ["RequiresMfa": true, "MfaMethods": ["totp"]])
        }
        var returnTarget = ReturnTarget()
        returnTarget.path = link?.returnPath
        let end = try await BrowserSignIns(self).signIn(
            MagicLinkGrant(account: account, shown: shown, second: second),
            by: .link, try await PageRequest(self).visit(), to: returnTarget)
        guard case .signedIn(let opened) = end else { throw Problem(.invalidLink) }
        var response = Response.native(
            .ok, ["RequiresMfa": false, "ReturnUrl": .string(returnTarget.target)])
        for cookie in opened.headers.all("Set-Cookie") {
            response.headers.append("Set-Cookie", cookie)
        }
        return response
    }
}
