internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import PhoneNumbers
internal import ReadModels
internal import Values

/// The page for tenants: an address is typed, a code is sent there and typed, and the browser goes back to the
/// app with a code of another kind, which the app redeems.
enum HostedPageRoutes {
    static let table: [Route<RealmContext>] = [
        show, begin, codePage, check, carryOn, carryOnPage, cancel,
    ]

    private static let show = Route<RealmContext>(
        .get, "/app", id: "showVerifyPage", tag: "Verify", summary: "Asks for an address.",
        right: .nothing, voice: .verifyPage,
        parameters: VerifyRequest.parameters + [SocialRoutes.parameter],
        answer: .page, refusals: Place.refusals + [.invalidRequest]
    ) { call throws(Problem) in
        let asked = try await call.verifyRequest()
        let visit = try await PageRequest(call).visit()
        var page = call.hostedPage(visit, asked)
        if let address = try await call.recognisedAddress(asked, visit) {
            return page.recognised(as: address)
        }
        page.typed = asked.input
        page.providers = try await call.providers(for: asked)
        if let slug = call.text("provider"), !slug.isEmpty {
            guard page.providers.contains(where: { $0.slug == slug }) else {
                throw Problem(.invalidRequest, "This realm has no such provider.")
            }
            if !asked.asOther { page.goesOnTo = slug }
            return page.address()
        }
        page.goesOn = asked.isDirect && page.captcha == nil
        return page.address()
    }

    private static let begin = Route<RealmContext>(
        .post, "/app", id: "sendVerifyCode", tag: "Verify", summary: "Sends a code.",
        right: .nothing, voice: .verifyPage, parameters: VerifyRequest.parameters,
        body: .page(
            [
                .optional("input", .text(0...320), "Mail address or phone number."),
                .optional("channel", .text(0...20), "Channel of a code to a phone."),
                .optional("to", .text(0...2048), "Sealed address of the previous code."),
                .optional(
                    "other", .text(0...5),
                    "Whether to continue with another person than the recognised one."),
            ] + CaptchaWidget.members), answer: .page, refusals: Page.refusals + [.invalidRequest]
    ) { call throws(Problem) in
        let asked = try await call.verifyRequest()
        let visit = try await PageRequest(call).submission()
        var page = call.hostedPage(visit, asked)
        page.typed = trimmed(call.body["input"]?.string ?? "")
        guard let address = call.verifiable(page.typed, asked.kind) else {
            page.wrong = call.whatIsWrong(page.typed, asked.kind, visit.say)
            return page.address(.badRequest)
        }
        let before = SentCode(call.body["to"]?.string, call, in: asked.binding(visit))
        let chosen = call.body["channel"]?.string.flatMap(Channel.init)
        var channel = Channel.mail
        if asked.kind == .phone {
            guard let way = asked.channels.first(where: { $0 == chosen }) ?? asked.channels.first
            else { throw Problem(.invalidRequest, "This realm has no such channel.") }
            channel = way
        }
        let sent = SentCode(
            address: address.text, channel: channel,
            isAnother: before?.address == address.text,
            link: asked.method == .link ? call.context.newID() : nil)
        do throws(Problem) {
            try call.countVerification(of: address, in: visit.formName)
        } catch {
            return try call.verificationPage(after: error, page, sent, before)
        }
        do throws(Problem) {
            try await call.requireCaptcha(page.captcha.flatMap { call.body[$0.field]?.string })
        } catch {
            guard error.kind == .invalidGrant else { throw error }
            page.notice = error.detail
            return page.address(.badRequest)
        }
        async let pause: Void = call.context.hesitate()
        if try await call.isMeant(sent.address, asked.person) {
            try await BrowserSignIns(call).sendCode(
                .signIn, address.person(language: PageRequest(call).readersLanguage), by: channel,
                // Most who come here are new: they are counted with all who ask.
                mayJoin: asked.person == nil, asLink: sent.link, countsSignUps: false,
                app: asked.tenant.client.metadata.appID)
        }
        await pause
        let next = sent.link == nil ? HostedPage.codePath : HostedPage.waitPath
        return .seeOther(
            asked.path(next, [("to", try sent.sealed(call, in: asked.binding(visit)))]))
    }

    private static let codePage = Route<RealmContext>(
        .get, "/app/code", id: "showVerifyCodePage", tag: "Verify",
        summary: "Shows the form for the code.", right: .nothing, voice: .verifyPage,
        parameters: VerifyRequest.parameters + [SentCode.parameter], answer: .page,
        refusals: Place.refusals + [.invalidRequest]
    ) { call throws(Problem) in
        let asked = try await call.verifyRequest()
        let visit = try await PageRequest(call).visit()
        guard let sealed = call.text("to"),
            let sent = SentCode(sealed, call, in: asked.binding(visit)),
            sent.link == nil
        else { return .seeOther(asked.path(HostedPage.path)) }
        return call.hostedPage(visit, asked).code(sent, sealed, .code(isWrong: false))
    }

    private static let check = Route<RealmContext>(
        .post, "/app/code", id: "checkVerifyCode", tag: "Verify",
        summary: "Checks the code, and the second factor where the account has one.",
        right: .nothing, voice: .verifyPage,
        parameters: VerifyRequest.parameters + [SentCode.parameter],
        body: .page([
            .optional("code", .text(0...64), "Code that was sent."),
            .optional(
                "totp", .text(0...128), "TOTP code of the authenticator app, or a recovery code."),
        ]), answer: .page, refusals: Page.refusals + [.invalidRequest]
    ) { call throws(Problem) in
        let asked = try await call.verifyRequest()
        let visit = try await PageRequest(call).submission()
        guard let sealed = call.text("to"),
            let sent = SentCode(sealed, call, in: asked.binding(visit))
        else {
            return .seeOther(asked.path(HostedPage.path))
        }
        let typed = (call.body["code"]?.string ?? "").filter { $0 != " " }
        let mint = call.context.mint
        let mailbox = mint.mailbox(sent.address)
        let counter = RateCounter(call)
        try counter.count(.emailOTPVerify, target: counter.atBlock(mailbox.description))
        async let pause: Void = call.context.hesitate()
        let grant = OTPGrant(
            mailbox: mailbox, shown: mint.shown { $0.digest(ofCode: typed, for: mailbox) },
            account: call.context.newID(),
            second: SecondFactors(call).typed(call.body["totp"]?.string))
        let page = call.hostedPage(visit, asked)
        guard try await call.isMeant(sent.address, asked.person) else {
            await pause
            return page.code(sent, sealed, .code(isWrong: true), .badRequest)
        }
        switch try await BrowserSignIns(call).open(grant, by: .code, visit) {
        case .success(let opened): return try await call.leadBack(asked, opened)
        case .failure(.secondFactorRequired):
            return page.code(sent, sealed, .second(code: typed, isWrong: false))
        case .failure(let refusal):
            // Of what was wrong its time tells nothing either.
            await pause
            return page.code(
                sent, sealed,
                refusal == .invalidSecondFactor
                    ? .second(code: typed, isWrong: true) : .code(isWrong: true), .badRequest)
        }
    }

    /// Of a browser that proved the address not long ago.
    private static let carryOn = Route<RealmContext>(
        .post, "/app/continue", id: "continueVerified", tag: "Verify",
        summary: "Goes back to the app as the recognised person.", right: .nothing,
        voice: .verifyPage, parameters: VerifyRequest.parameters, body: .page([]), answer: .page,
        refusals: Page.refusals + [.invalidRequest]
    ) { call throws(Problem) in
        let asked = try await call.verifyRequest()
        let visit = try await PageRequest(call).submission()
        guard let browser = visit.browser,
            try await call.recognisedAddress(asked, visit) != nil
        else { return .seeOther(asked.path(HostedPage.path)) }
        return try await TenantCodes(call).redirect(asked, browser)
    }
}

extension HostedPageRoutes {
    /// A link to the scheme of an app would be none: browsers follow redirects there.
    fileprivate static let cancel = Route<RealmContext>(
        .get, "/app/cancel", id: "cancelVerification", tag: "Verify",
        summary: "Goes back to the app without an address.", right: .nothing, voice: .verifyPage,
        parameters: VerifyRequest.parameters, answer: .page,
        refusals: Place.refusals + [.invalidRequest]
    ) { call throws(Problem) in
        .seeOther(try await call.verifyRequest().answer([("error", "access_denied")]))
    }

    /// A browser shows the form's address again, by a reload: its page is another one.
    fileprivate static let carryOnPage = Route<RealmContext>(
        .get, "/app/continue", id: "openContinueVerified", tag: "Verify",
        summary: "Redirects to the page of the form.", right: .nothing, voice: .verifyPage,
        parameters: VerifyRequest.parameters, answer: .page,
        refusals: Place.refusals + [.invalidRequest]
    ) { call throws(Problem) in
        .seeOther(try await call.verifyRequest().path(HostedPage.path))
    }
}

extension Call<RealmContext> {
    /// The address of the kind that is asked for which this browser proved, unless another one is meant.
    func recognisedAddress(
        _ asked: VerifyRequest, _ visit: PageVisit
    ) async throws(Problem) -> String? {
        guard let browser = visit.browser, !asked.asOther,
            asked.person == nil || asked.person == browser.subject,
            try await TenantCodes(self).isStrongEnough(browser, for: asked.tenant)
        else { return nil }
        let events = try await RealmLookups(context).events(of: browser.subject)
        guard let known = KnownPerson(events), !known.isErased, known.isConfirmed,
            let address = asked.kind == .phone ? known.person.phone : known.person.email
        else { return nil }
        if asked.input.isEmpty { return address }
        return verifiable(asked.input, asked.kind)?.text == address ? address : nil
    }

    /// The form for a code, or the page that waits for a link, where no other one is sent because too many were asked
    /// for: strangers may have done that, and the person has the mails.
    fileprivate func verificationPage(
        after refusal: Problem, _ page: HostedPage, _ sent: SentCode, _ before: SentCode?
    ) throws(Problem) -> Response {
        guard refusal.kind == .rateLimited else { throw refusal }
        var (page, sent) = (page, sent)
        if sent.link != nil {
            // Another page's link leads this one nowhere.
            guard let before, before.address == sent.address, before.link != nil else {
                throw refusal
            }
            sent = before
        }
        page.limitedFor = refusal.members["retryAfterSeconds"]?.integer ?? 60
        let sealed = try sent.sealed(self, in: page.asked.binding(page.visit))
        var response =
            if let link = sent.link {
                page.waiting(sent, sealed, number: context.mint.number(ofLink: link))
            } else {
                page.code(sent, sealed, .code(isWrong: false), .tooManyRequests)
            }
        response.status = .tooManyRequests
        for (name, value) in refusal.headers { response.headers.append(name, value) }
        return response
    }

    fileprivate func hostedPage(_ visit: PageVisit, _ asked: VerifyRequest) -> HostedPage {
        var page = HostedPage(visit: visit, asked: asked)
        page.captcha = CaptchaWidget(context.place.settings)
        return page
    }

    /// Leads a browser that has just signed in back to the app.
    func leadBack(
        _ asked: VerifyRequest, _ opened: BrowserSignIns.Opened
    ) async throws(Problem) -> Response {
        guard let browser = try await BrowserSessions(self).find(opened.secret, at: nil) else {
            throw Problem(.internalError)
        }
        var response = try await TenantCodes(self).redirect(asked, browser)
        response.headers.append("Set-Cookie", opened.cookie)
        return response
    }

    func verifiable(_ typed: String, _ kind: VerifyRequest.Kind) -> SignInAddress? {
        let settings = context.place.settings
        guard let address = SignInAddress(typed: typed, settings),
            address.isPhone == (kind == .phone)
        else { return nil }
        return address
    }

    func whatIsWrong(_ typed: String, _ kind: VerifyRequest.Kind, _ say: LocalizedText) -> String {
        guard kind == .phone else {
            return say(
                "Enter a whole e-mail address, such as ann@example.org.",
                "Geben Sie eine vollständige E-Mail-Adresse ein, etwa ann@example.org.")
        }
        do throws(PhoneFault) {
            _ = try PhoneNumber(typed: typed, context.place.settings)
        } catch .noMobile {
            return say(
                "Enter the number of a mobile phone.",
                "Geben Sie die Nummer eines Mobiltelefons ein.")
        } catch .foreign {
            return say(
                "We can't send messages to that country.",
                "In dieses Land können wir keine Nachrichten senden.")
        } catch {}
        return say(
            "Enter a phone number with its country, such as +41 78 123 45 67.",
            "Geben Sie eine Telefonnummer mit Landesvorwahl ein, etwa +41 78 123 45 67.")
    }

    /// By network, by address, by numbers that begin alike, and by browser.
    func countVerification(of address: SignInAddress, in browser: String) throws(Problem) {
        let mailbox = context.mint.mailbox(address.text)
        if address.isPhone {
            try RateCounter(self).countCode(to: address, mailbox)
        } else {
            try RateCounter(self).count(.verifyCode, target: mailbox.description)
        }
        try RateCounter(self).count(.verifyBrowser, target: browser)
    }
}
