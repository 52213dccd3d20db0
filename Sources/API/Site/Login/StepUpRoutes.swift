internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Showing one more factor, for an application that asks for a stronger sign-in than the user has.
enum StepUpRoutes {
    static let table: [Route<RealmContext>] = [stepUp]

    static let path = "/login/step-up"

    private static let stepUp = Route<RealmContext>(
        .post, PathTemplate(stringLiteral: path), id: "stepUpLogin", tag: "Pages",
        summary: "Checks a second factor of a signed-in user.", right: .nothing,
        voice: .page, parameters: ReturnTarget.parameters,
        body: .page(
            ReturnTarget.members + [
                .optional(
                    "totp", .text(0...128),
                    "TOTP code of the authenticator app, or a recovery code.")
            ]), answer: .page, refusals: Page.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        let returnTarget = ReturnTarget(call)
        let asked = try await PageRequest(call).applicationRequest(returnTarget, for: visit.browser)
        guard let browser = visit.browser, asked?.mayStepUp == true,
            let view = try await call.stepUpSession(of: browser)
        else { return .seeOther(returnTarget.link("/login")) }
        try RateCounter(call).count(.twoFactor, target: browser.subject.description)
        if let typed = SecondFactors(call).typed(call.body["totp"]?.string) {
            let end = try await BrowserSignIns(call).signIn(
                StepUp(account: browser.subject, session: browser.id, second: typed),
                by: view.terms.method, visit, to: returnTarget)
            if case .signedIn(let response) = end { return response }
        }
        var page = LoginPage(call, visit, returnTarget)
        page.asked = asked
        page.stepUp = .wrong
        return page.response(.badRequest)
    }
}

extension Call<RealmContext> {
    /// Whether the signed-in user has neither a passkey nor an authenticator app.
    func lacksStrongFactor(_ visit: PageVisit, _ returnTarget: ReturnTarget) async throws(Problem)
        -> Bool
    {
        guard let browser = visit.browser, !returnTarget.asOther else { return false }
        guard try await RealmLookups(context).passkeys(of: browser.subject).isEmpty else {
            return false
        }
        return try await SecondFactors(self).state(of: browser.subject).enrolled == nil
    }

    /// The browser's session, where one more factor makes it a strong one: there is a factor to show, and
    /// it was not opened long ago.
    func stepUpSession(of browser: SignedInBrowser) async throws(Problem) -> BrowserSessionView? {
        guard try await SecondFactors(self).state(of: browser.subject).enrolled != nil else {
            return nil
        }
        let view = try await context.ask(BrowserSessionView.byID, browser.id)
        guard let view,
            SignedIn(client: nil, app: nil, at: view.terms.openedAt)
                .isTooOld(at: context.clock.now(), context.place.settings) == nil
        else { return nil }
        return view
    }
}

/// What the login page says where an application asks for more than one factor.
enum StepUpForm: Equatable {
    /// A second factor is all that is missing.
    case open
    case wrong
    /// The user has to sign in anew, more strongly than before.
    case wholeLogin

    func html(_ visit: PageVisit, _ returnTarget: ReturnTarget) -> HTML {
        let say = visit.say
        return HTML {
            HTML.element(.p) {
                say(
                    "This app asks for a stronger sign-in: with a passkey, or with a code from your authenticator app.",
                    "Diese App verlangt eine stärkere Anmeldung: mit einem Passkey oder einem Code Ihrer Authenticator-App."
                )
            }
            if self != .wholeLogin {
                visit.form(returnTarget.link(StepUpRoutes.path)) {
                    returnTarget.fields
                    SecondFactorPage.field(visit, self == .wrong).html
                    Parts.button(say("Continue", "Weiter"))
                }
                HTML.element(.p, .class("or")) { say("or", "oder") }
            }
        }
    }
}
