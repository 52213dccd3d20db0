internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Where people sign in with a browser.
enum LoginRoutes {
    static let table: [Route<RealmContext>] = [show, choose, codePage, code]

    private static let show = Route<RealmContext>(
        .get, "/login", id: "showLogin", tag: "Pages", summary: "Shows the sign-in page.",
        right: .nothing, voice: .page,
        parameters: ReturnTarget.parameters + [CodeAddress.parameter],
        answer: .page, refusals: Place.refusals
    ) { call throws(Problem) in
        if let frame = call.tenantFrame { return .seeOther(frame) }
        let visit = try await PageRequest(call).visit()
        let returnTarget = ReturnTarget(call)
        let asked = try await PageRequest(call).applicationRequest(returnTarget, for: visit.browser)
        if returnTarget.isReached(by: visit, asked) { return .seeOther(returnTarget.target) }
        var page = LoginPage(call, visit, returnTarget)
        page.asked = asked
        if let browser = visit.browser, returnTarget != ReturnTarget(), !returnTarget.asOther {
            page.signedInAs = try await PersonClaims(call.context).address(of: browser.subject)
        }
        let known = asked?.asksForAnother == true ? nil : page.signedInAs
        page.settled = call.codeAddress(visit, at: .settled)
        page.email = asked?.hint ?? known ?? page.settled?.email ?? ""
        page.providers = try await RealmLookups(call.context).providerLabels()
        if let asked = page.asked, asked.needsMore {
            page.stepUp = .wholeLogin
            if asked.mayStepUp, let browser = visit.browser,
                try await call.stepUpSession(of: browser) != nil
            {
                page.stepUp = .open
            }
            page.lacksStrongFactor = try await call.lacksStrongFactor(visit, returnTarget)
        }
        return page.response()
    }

    private static let choose = Route<RealmContext>(
        .post, "/login", id: "beginLogin", tag: "Pages",
        summary: "Sends a code or a link.", right: .nothing, voice: .page,
        parameters: ReturnTarget.parameters,
        body: .page(
            ReturnTarget.members + [
                .optional("email", .text(0...320), "Mail address or phone number."),
                .optional(
                    "passphrase", .text(0...1024), "Passphrase, for signing in with a passphrase."),
                .optional("by", .text(0...20), "Sign-in method."),
                CodeAddress.member,
            ]), answer: .page, refusals: Page.refusals
    ) { call throws(Problem) in
        if call.chosenMethod == .passphrase,
            let response = try await PageRequest(call).onwardIfSentAgain()
        {
            return response
        }
        let visit = try await PageRequest(call).submission()
        let returnTarget = ReturnTarget(call)
        var page = LoginPage(call, visit, returnTarget)
        page.email = trimmed(call.body["email"]?.string ?? "")
        let settings = call.context.place.settings
        guard let typed = PageRequest(call).typedSignInAddress() else {
            page.wrongEmail = visit.say.whatIsWrong(with: page.email, settings)
            return page.response(.badRequest)
        }
        let address = typed.text
        // A link opens in another browser than the one that asked, on a phone most of all.
        let method = typed.isPhone && call.chosenMethod == .link ? .code : call.chosenMethod
        guard call.context.place.settings.offers(method) else { throw Problem(.noSuchRoute) }
        // How long that takes is the same for every address.
        if method == .passphrase { return try await PassphraseLogin.begin(call, page, address) }
        async let pause: Void = call.context.hesitate()
        switch method {
        case .code, .passkey, .passphrase, .sessionCode, .ownerPassphrase, .ownerLink,
            .provider:
            if let early = call.tooSoon(for: address, visit) {
                return .seeOther(try call.place(of: early, visit, returnTarget))
            }
            do throws(Problem) {
                try await call.beginCode(typed)
            } catch {
                return try call.codePage(after: error, for: address, visit, returnTarget)
            }
            await pause
            return .seeOther(try call.place(of: call.sent(to: address, visit), visit, returnTarget))
        case .link:
            try await call.mailLink(address, returnTarget)
            await pause
            return CodePage.linkMailed(visit, returnTarget, address)
        }
    }

    private static let codePage = Route<RealmContext>(
        .get, "/login/code", id: "showCodePage", tag: "Pages",
        summary: "Shows the form for the code.", right: .nothing, voice: .page,
        parameters: ReturnTarget.parameters + [CodeAddress.parameter], answer: .page,
        refusals: Place.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        let returnTarget = ReturnTarget(call)
        guard let address = call.codeAddress(visit) else {
            return .seeOther(returnTarget.link("/login"))
        }
        let asked = try await PageRequest(call).applicationRequest(returnTarget, for: visit.browser)
        if returnTarget.isReached(by: visit, asked) { return .seeOther(returnTarget.target) }
        return try CodePage(call, visit, returnTarget, address).response()
    }

    private static let code = Route<RealmContext>(
        .post, "/login/code", id: "loginByCode", tag: "Pages",
        summary: "Checks the code, and the second factor where the account has one.",
        right: .nothing, voice: .page,
        parameters: ReturnTarget.parameters + [CodeAddress.parameter],
        body: .page(
            ReturnTarget.members + [
                .optional("email", .text(0...320), "Mail address or phone number."),
                .optional("code", .text(0...64), "Code that was sent."),
                .optional(
                    "totp", .text(0...128),
                    "TOTP code of the authenticator app, or a recovery code."),
            ]),
        answer: .page, refusals: Page.refusals
    ) { call throws(Problem) in
        if let response = try await PageRequest(call).onwardIfSentAgain() { return response }
        let visit = try await PageRequest(call).submission()
        let returnTarget = ReturnTarget(call)
        guard let address = PageRequest(call).typedSignInAddress()?.text else {
            return .seeOther(returnTarget.link("/login"))
        }
        let typed = (call.body["code"]?.string ?? "").filter { $0 != " " }
        let mint = call.context.mint
        let mailbox = mint.mailbox(address)
        let counter = RateCounter(call)
        try counter.count(.emailOTPVerify, target: counter.atBlock(mailbox.description))
        let typedCode = mint.shown { $0.digest(ofCode: typed, for: mailbox) }
        async let pause: Void = call.context.hesitate()
        let second = SecondFactors(call).typed(call.body["totp"]?.string)
        let asked = call.codeAddress(visit)
        var grant = OTPGrant(
            mailbox: mailbox, shown: typedCode, account: call.context.newID(), second: second)
        // What this browser said when it asked, if it asked for this address.
        if let asked, asked.email == address {
            grant.joiner = JoinerNames(
                firstName: asked.newcomer?.firstName, lastName: asked.newcomer?.lastName)
        }
        let end = try await BrowserSignIns(call).signIn(grant, by: .code, visit, to: returnTarget)
        var shown = asked ?? CodeAddress(email: address)
        (shown.email, shown.isTooSoon, shown.isAnother) = (address, false, false)
        var page = try CodePage(call, visit, returnTarget, shown)
        switch end {
        case .signedIn(let response): return response
        case .refused(.secondFactorRequired):
            page.step = .second(code: typed, isWrong: false)
            return page.response()
        case .refused(.invalidSecondFactor):
            page.step = .second(code: typed, isWrong: true)
        case .refused:
            shown.wrong += 1
            page = try CodePage(call, visit, returnTarget, shown)
            page.step = .code(isWrong: true)
        }
        // Of what was wrong its time tells nothing either.
        await pause
        return page.response(.badRequest)
    }
}

extension ReturnTarget {
    /// Whether a user is signed in already, and nothing asks them to do it once more. A user who is
    /// sent to the login for more than that has been told why.
    fileprivate func isReached(by visit: PageVisit, _ asked: ApplicationRequest?) -> Bool {
        guard visit.browser != nil, !asOther else { return false }
        return self == ReturnTarget() || asked?.needsNoSignIn == true
    }
}

extension Call<RealmContext> {
    /// How the user wants to sign in. The Enter key presses the first button, which is for a
    /// passphrase: without one a code or a link is what was meant.
    fileprivate var chosenMethod: BrowserMethod {
        let method = body["by"]?.string.flatMap(BrowserMethod.init) ?? .code
        guard method == .passphrase, body["passphrase"]?.string?.isEmpty ?? true else {
            return method
        }
        let settings = context.place.settings
        return [.code, .link].first { settings.offers($0) } ?? method
    }

    /// A new user gets an account by it where the realm asks for nothing else.
    fileprivate func beginCode(_ address: SignInAddress) async throws(Problem) {
        try RateCounter(self).countCode(to: address, context.mint.mailbox(address.text))
        let settings = context.place.settings
        let asksForNothing =
            settings[SettingCatalogue.registrationFirstName] != .required
            && settings[SettingCatalogue.registrationLastName] != .required
        try await BrowserSignIns(self).sendCode(
            .signIn, address.person(language: PageRequest(self).readersLanguage),
            by: address.channel(settings), mayJoin: asksForNothing)
    }

    fileprivate func mailLink(_ address: String, _ returnTarget: ReturnTarget) async throws(Problem)
    {
        let mailbox = context.mint.mailbox(address)
        try RateCounter(self).count(.magicLink, target: mailbox.description)
        let link = context.newID()
        guard let digest = context.mint.digest(ofMagicToken: context.mint.magicToken(link)) else {
            throw Problem(.internalError)
        }
        var command = RequestMagicLink(
            app: context.place.app, mailbox: mailbox,
            person: Person(email: address, language: PageRequest(self).readersLanguage), link: link,
            digest: digest, base: context.place.links, returnPath: ReturnPath(returnTarget.target),
            mail: context.newID(), now: context.clock.now())
        command.isForPage = true
        _ = try await Commands(self).dispatch(command, as: .anonymous)
    }
}

extension Call<RealmContext> {
    /// The page that is shown in frames, where a tenant's page asks for it by the address that the scripts of the
    /// verify profile have for links.
    fileprivate var tenantFrame: String? {
        guard context.place.settings.rules.servesTenants, let query = request.query,
            let names = Form.parse(Array(query.utf8)).map({ pairs in Set(pairs.map { $0.0 }) }),
            names.isSuperset(of: ["api_key", "code_challenge", "domain"])
        else { return nil }
        return "/signup?\(query)"
    }
}
