internal import Cryptography
internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// An owner who takes their realm over with a browser.
enum OnboardingRoutes {
    static let pageTable: [Route<RealmContext>] = [resend, show, set]

    private static let refusals = Page.refusals + [.noSuchRoute, .invalidRequest]

    private static let resend = Route<RealmContext>(
        .post, "/auth/onboarding/resend", id: "resendOwnerInvitation", tag: "Flagship",
        summary: "Mails an owner the link to finish set-up again.", right: .nothing,
        voice: .page, answer: .page, refusals: refusals
    ) { call throws(Problem) in
        try RateCounter(call).countRealm(.ownerInvitation)
        let refusal = try await Commands(call).attempt(
            InviteOwner(
                base: call.context.place.links, mail: call.context.newID(),
                token: call.context.newID()),
            as: .anonymous)
        if let refusal, refusal != .nobodyWaits { throw refusal.problem }
        if call.wantsJSON { return .json(.ok, [:]) }
        return OwnerNotice.mailed(try await PageRequest(call).visit())
    }

    private static let show = Route<RealmContext>(
        .get, "/auth/passphrase", id: "showOnboarding", tag: "Flagship",
        summary: "Shows the form for an owner's first passphrase.", right: .nothing, voice: .page,
        parameters: [
            Parameter(
                "registerToken", in: .query, .text(0...64), "Registration token from the mail."),
            Parameter(
                "hideBackButton", in: .query, .text(0...20),
                "Parameter of apps that is accepted and ignored."),
            Parameter(
                "redirection", in: .query, .text(0...4096),
                "Parameter of apps that is accepted and ignored."),
        ], answer: .page, refusals: refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        let token = call.text("registerToken") ?? ""
        guard try await call.registerToken(token) != nil else { return over(visit) }
        return page(call, visit, token, wrong: nil)
    }

    /// A form of a page, or JSON of an app: the token is good for one of them, once.
    private static let set = Route<RealmContext>(
        .post, "/settings/passphrase", id: "setOwnerPassphrase", tag: "Flagship",
        summary: "Sets an owner's first passphrase, and signs the browser in.", right: .nothing,
        voice: .flagship, answer: .page, refusals: refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        let members = call.looseMembers()
        try RateCounter(call).countRealm(.ownerSignIn)
        let text = members["register_token"]?.string ?? ""
        let isProgram = call.request.headers["Content-Type"]?.hasPrefix("application/json") == true
        guard let token = try await call.registerToken(text) else {
            return isProgram
                ? .jsonAPIError(.badRequest, "Bad request", "invalid register_token") : over(visit)
        }
        let derived: DerivedPassphrase
        switch try await call.chosenPassphrase(members, visit.say) {
        case .failure(let wrong): return page(call, visit, text, wrong: wrong.said)
        case .success(let chosen): derived = chosen
        }
        let outcome = try await Commands(call).dispatch(
            OnboardOwner(
                token: token, passphrase: derived, mail: call.context.newID(),
                request: call.ownerRequest(.webView)), as: .anonymous)
        guard case .sessionCode(let code) = outcome else { return over(visit) }
        let end = try await BrowserSignIns(call).signIn(
            SessionCodeProof(code: code), by: .sessionCode, visit, to: ReturnTarget())
        guard case .signedIn(var response) = end else { return .seeOther("/auth/login") }
        if isProgram {
            response.headers["Location"] = nil
            response = Response(status: .noContent, headers: response.headers, body: [])
        }
        return response
    }

    private static func page(
        _ call: Call<RealmContext>, _ visit: PageVisit, _ token: String, wrong: String?
    ) -> Response {
        let say = visit.say
        let form = OwnerPassphraseForm(
            visit: visit, rounds: OwnerPassphraseForm.usualRounds, host: call.context.place.host,
            action: "/settings/passphrase", button: say("Set passphrase", "Passphrase setzen"),
            isNew: true, wrong: wrong)
        return visit.page(
            say("Welcome", "Willkommen"), status: wrong == nil ? .ok : .badRequest,
            script: OwnerScript.path
        ) {
            Page.card {
                HTML.element(.h1) { say("Choose your passphrase", "Ihre Passphrase wählen") }
                HTML.element(.p) {
                    say(
                        "Use it to sign in here and in your apps.",
                        "Mit ihr melden Sie sich hier und in Ihren Apps an.")
                }
                form.html { Parts.hidden("register_token", token) }
            }
        }
    }

    private static func over(_ visit: PageVisit) -> Response {
        let say = visit.say
        return visit.page(
            say.linkExpired, status: .badRequest
        ) {
            Page.card {
                HTML.element(.h1) { say.linkExpired }
                HTML.element(.p) { say.adviceOnExpiredLink }
                visit.form("/auth/onboarding/resend") {
                    Parts.button(say("Send me the newest link", "Neuesten Link senden"))
                }
            }
        }
    }
}

extension Call<RealmContext> {
    /// The name that the token follows from, where it is the one that is good now.
    func registerToken(_ text: String) async throws(Problem) -> UUID? {
        let (owner, account) = try await ownersAccount()
        guard let known = owner.registerToken(of: account),
            context.mint.isRegisterToken(text, known)
        else { return nil }
        return known
    }
}

extension InviteOwner.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .nobodyWaits: Problem(.noSuchRoute)
        }
    }
}
