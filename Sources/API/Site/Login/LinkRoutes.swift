internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Where a mailed link leads. Programs that look for harm in mails open links as well: so the page
/// says whom it signs in, and only its button does it.
enum LinkRoutes {
    static let table: [Route<RealmContext>] = [show, redeem]

    private static let path: PathTemplate = "/magic-login"
    private static let parameters = [
        Parameter("userId", in: .query, .text(0...64), "Account id in the link."),
        Parameter("token", in: .query, .text(0...128), "Token in the mailed link."),
    ]

    private static let show = Route<RealmContext>(
        .get, path, id: "showMagicLink", tag: "Pages", summary: "Shows the page of a mailed link.",
        right: .nothing, voice: .page,
        parameters: parameters + [
            Parameter(
                "redirect", in: .query, .text(0...4096),
                "Redirect target in the link, which this page does not follow.")
        ], answer: .page, refusals: Place.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        let (user, token) = (call.text("userId") ?? "", call.text("token") ?? "")
        guard let link = try await MagicLinks(call.context).find(user, token) else {
            return over(visit)
        }
        return try await page(call, visit, link, user, token, isWrong: false)
    }

    private static let redeem = Route<RealmContext>(
        .post, path, id: "loginByLink", tag: "Pages", summary: "Signs in by a mailed link.",
        right: .nothing, voice: .page, parameters: parameters,
        body: .page([
            .optional("userId", .text(0...64), "Account id in the link."),
            .optional("token", .text(0...128), "Token in the mailed link."),
            .optional(
                "totp", .text(0...128), "TOTP code of the authenticator app, or a recovery code."),
        ]), answer: .page, refusals: Page.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        let (user, token) =
            (call.body["userId"]?.string ?? "", call.body["token"]?.string ?? "")
        let found = try await MagicLinks(call.context).find(user, token)
        try RateCounter(call).count(.emailOTPVerify, heldBy: found.map { "link \($0.id)" })
        guard let link = found else {
            try await call.record(user, token, visit)
            return over(visit)
        }
        let second = SecondFactors(call).typed(call.body["totp"]?.string)
        // Being shown uses it up: what is still missing is asked for before.
        if second == nil, try await SecondFactors(call).state(of: link.account).enrolled != nil {
            return try await page(call, visit, link, user, token, isWrong: true)
        }
        var returnTarget = ReturnTarget()
        returnTarget.path = link.returnPath
        let end = try await BrowserSignIns(call).signIn(
            MagicLinkGrant(
                account: link.account, shown: ShownSecret([link.digest]), second: second),
            by: .link, visit, to: returnTarget)
        guard case .signedIn(let response) = end else { return over(visit) }
        return response
    }

    private static func page(
        _ call: Call<RealmContext>, _ visit: PageVisit, _ link: IssuedLink, _ user: String,
        _ token: String, isWrong: Bool
    ) async throws(Problem) -> Response {
        let say = visit.say
        let needsCode = try await SecondFactors(call).state(of: link.account).enrolled != nil
        return visit.page(
            say("Sign in", "Anmelden"), status: isWrong ? .badRequest : .ok, leadsAway: true
        ) {
            Page.card {
                HTML.element(.h1) { say("Sign in", "Anmelden") }
                HTML.element(.p) {
                    say("This link signs you in as ", "Dieser Link meldet Sie an als ")
                    HTML.element(.strong, .class("break")) {
                        Parts.address(link.person.email ?? "")
                    }
                    "."
                }
                visit.form("\(path)?\(Form.encode([("userId", user), ("token", token)]))") {
                    Parts.hidden("userId", user)
                    Parts.hidden("token", token)
                    if needsCode { SecondFactorPage.field(visit, isWrong).html }
                    Parts.button(say("Sign in", "Anmelden"))
                }
                HTML.element(.p, .class("hint")) {
                    say(
                        "If that isn't you, or you didn't ask for this link, close this page.",
                        "Sind Sie das nicht oder haben Sie den Link nicht angefordert, schließen Sie diese Seite."
                    )
                }
            }
        }
    }

    private static func over(_ visit: PageVisit) -> Response {
        let say = visit.say
        return visit.notice(
            say.linkExpired, say.adviceOnExpiredLink, .badRequest,
            link: (say("Back to sign in", "Zurück zur Anmeldung"), "/login"))
    }
}

extension Call<RealmContext> {
    /// One that is not good goes to the decision too, which puts it on record.
    fileprivate func record(
        _ user: String, _ token: String, _ visit: PageVisit
    ) async throws(Problem) {
        guard let id = UUID(user), let shown = context.mint.shown(magicToken: token) else {
            return
        }
        _ = try await BrowserSignIns(self).signIn(
            MagicLinkGrant(account: id, shown: shown), by: .link, visit, to: ReturnTarget())
    }
}
