internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The page for tenants within a tenant's own page.
enum FrameRoutes {
    static let pages: [Route<RealmContext>] = [show, FrameScript.asset]
    static let table: [Route<RealmContext>] = [begin, send, check, wait]

    private static let show = Route<RealmContext>(
        .get, "/signup", id: "showVerifyFrame", tag: "Verify", summary: "Asks for an address.",
        right: .nothing, voice: .verifyPage, parameters: FrameRequest.parameters,
        answer: .page, refusals: Place.refusals + [.invalidRequest]
    ) { call throws(Problem) in
        FramePage(
            look: PageLook(call.context.place, call.request), asked: try await call.frameRequest(),
            captcha: CaptchaWidget(call.context.place.settings)
        ).response()
    }

    private static let refusals: [ProblemKind] =
        Place.refusals + [.invalidRequest, .invalidGrant, .foreignForm, .rateLimited]

    private static let begin = Route<RealmContext>(
        .post, "/signup/begin", id: "beginFrame", tag: "Verify",
        summary: "Checks an address that was typed in a frame, and sends nothing.",
        right: .nothing, voice: .verify, parameters: FrameRequest.parameters,
        body: Body(
            schema: .object(
                .optional("identifier", .text(0...320), "Mail address or phone number.")),
            example: ["identifier": "+41 78 123 45 67"]),
        answer: .ok(
            "The address in the form in which it is known.", .openObject,
            example: ["identifier": "+41781234567"]), refusals: refusals
    ) { call throws(Problem) in
        let asked = try await call.ownFrame()
        return .json(.ok, ["identifier": .string(try call.typedAddress(asked).text)])
    }

    private static let send = Route<RealmContext>(
        .post, "/signup/send", id: "sendFrameCode", tag: "Verify",
        summary: "Sends a code, or a link, for a page in a frame.", right: .nothing,
        voice: .verify, parameters: FrameRequest.parameters,
        body: Body(
            schema: .object(
                .optional("identifier", .text(0...320), "Mail address or phone number."),
                .optional("channel", .text(0...20), "Channel of a code to a phone."),
                .optional(
                    "auth_method", .text(0...20), "Authentication method: OTP or MAGIC_LINK."),
                .optional("captcha", .text(0...8192), "Response token of the captcha."),
                .optional(
                    "skip_redirect", .boolean,
                    "Whether the code is redeemed with the origin in place of a redirect URL.")),
            example: ["identifier": "ann@example.org"]),
        answer: .ok("Sealed address that the code was sent to.", .openObject, example: ["to": "…"]),
        refusals: refusals
    ) { call throws(Problem) in
        let asked = try await call.ownFrame()
        let address = try call.typedAddress(asked)
        let chosen = call.body["channel"]?.string.flatMap(Channel.init)
        let channel =
            asked.kind == .email
            ? .mail : asked.channels.first { $0 == chosen } ?? asked.channels.first ?? .sms
        let isLink = call.body["auth_method"]?.string == VerifyRequest.Method.link.rawValue
        let sent = SentCode(
            address: address.text, channel: channel, isAnother: false,
            link: isLink ? call.context.newID() : nil)
        do throws(Problem) {
            try call.countVerification(of: address, in: "state \(asked.state)")
        } catch {
            guard error.kind == .rateLimited, !isLink else { throw error }
            // Strangers may have asked for too many: the form for the code that was sent is shown all the same.
            let say = PageLook(call.context.place, call.request).say
            var response = Response.json(
                .tooManyRequests,
                [
                    "to": .string(try sent.sealed(call, in: asked.form)),
                    "msg": .string(
                        say.noMoreCodes(
                            for: error.members["retryAfterSeconds"]?.integer ?? 60)),
                ])
            for (name, value) in error.headers { response.headers.append(name, value) }
            return response
        }
        try await call.requireCaptcha(call.body["captcha"]?.string)
        async let pause: Void = call.context.hesitate()
        if try await call.isMeant(sent.address, asked.person) {
            try await BrowserSignIns(call).sendCode(
                .signIn, address.person(language: PageRequest(call).readersLanguage), by: channel,
                mayJoin: asked.person == nil, asLink: sent.link, countsSignUps: false,
                app: asked.tenant.client.metadata.appID)
        }
        await pause
        var members: JSONObject = ["to": .string(try sent.sealed(call, in: asked.form))]
        members["number"] = sent.link.map { .string(call.context.mint.number(ofLink: $0)) }
        return .json(.ok, .object(members))
    }

    private static let check = Route<RealmContext>(
        .post, "/signup/check", id: "checkFrameCode", tag: "Verify",
        summary: "Checks the code that was typed in a frame.", right: .nothing, voice: .verify,
        parameters: FrameRequest.parameters,
        body: Body(
            schema: .object(
                .optional("to", .text(0...2048), "Sealed address that the code was sent to."),
                .optional("code", .text(0...64), "Code that was sent."),
                .optional("totp", .text(0...128), "TOTP code of the authenticator app."),
                .optional(
                    "skip_redirect", .boolean,
                    "Whether the code is redeemed with the origin in place of a redirect URL.")),
            example: ["to": "…", "code": "123456"]),
        answer: .ok("A code for the app.", .openObject, example: [:]), refusals: refusals
    ) { call throws(Problem) in
        let asked = try await call.ownFrame()
        guard let sent = SentCode(call.body["to"]?.string, call, in: asked.form), sent.link == nil
        else { throw FrameRoutes.over }
        let mint = call.context.mint
        let mailbox = mint.mailbox(sent.address)
        let counter = RateCounter(call)
        try counter.count(.emailOTPVerify, target: counter.atBlock(mailbox.description))
        let typed = (call.body["code"]?.string ?? "").filter { $0 != " " }
        // Where it is not, no code was sent, and none is right.
        let isMeant = try await call.isMeant(sent.address, asked.person)
        return try await call.finishFrame(
            OTPGrant(
                mailbox: mailbox,
                shown: isMeant
                    ? mint.shown { $0.digest(ofCode: typed, for: mailbox) } : ShownSecret([]),
                account: call.context.newID(),
                second: SecondFactors(call).typed(call.body["totp"]?.string)), asked)
    }

    private static let wait = Route<RealmContext>(
        .post, "/signup/wait", id: "waitForFrameLink", tag: "Verify",
        summary: "Says whether the link was opened that a frame waits for.", right: .nothing,
        voice: .verify, parameters: FrameRequest.parameters,
        body: Body(
            schema: .object(
                .optional("to", .text(0...2048), "Sealed address that the link was sent to."),
                .optional(
                    "skip_redirect", .boolean,
                    "Whether the code is redeemed with the origin in place of a redirect URL.")),
            example: ["to": "…"]),
        answer: .ok("A code for the app, or nothing yet.", .openObject, example: [:]),
        refusals: refusals
    ) { call throws(Problem) in
        let asked = try await call.ownFrame()
        guard let sent = SentCode(call.body["to"]?.string, call, in: asked.form),
            let link = sent.link
        else { throw FrameRoutes.over }
        guard try await call.isConfirmed(sent) else { return .json(.ok, ["confirmed": false]) }
        var grant = OTPGrant(
            mailbox: call.context.mint.mailbox(sent.address), shown: ShownSecret([]),
            account: call.context.newID())
        grant.confirmed = link
        return try await call.finishFrame(grant, asked)
    }

    fileprivate static let over = Problem(
        .invalidGrant, "This page was open for too long: please start again.")
}

extension Call<RealmContext> {
    /// A request of the frame's own script: it has no cookie that another site's form could borrow, and yet
    /// no other site has people sent codes.
    fileprivate func ownFrame() async throws(Problem) -> FrameRequest {
        guard request.isSent(fromPagesOf: context.place.host) else { throw Problem(.foreignForm) }
        return try await frameRequest()
    }

    /// The address of the body. Throws the error of an invalid one.
    fileprivate func typedAddress(_ asked: FrameRequest) throws(Problem) -> SignInAddress {
        let typed = trimmed(body["identifier"]?.string ?? "")
        guard let address = verifiable(typed, asked.kind) else {
            let say = PageLook(context.place, request).say
            throw Problem(.invalidRequest, whatIsWrong(typed, asked.kind, say))
        }
        return address
    }

    /// The browser is not recognised later: the frame keeps no cookie.
    fileprivate func finishFrame(
        _ grant: OTPGrant, _ asked: FrameRequest
    ) async throws(Problem) -> Response {
        let say = PageLook(context.place, request).say
        async let pause: Void = context.hesitate()
        switch try await BrowserSignIns(self).open(grant, by: .code, PageVisit(self, nil)) {
        case .success(let opened):
            guard let browser = try await BrowserSessions(self).find(opened.secret, at: nil) else {
                throw Problem(.internalError)
            }
            try TenantCodes.require(asked.person, browser)
            let skips = body["skip_redirect"]?.bool ?? false
            let code = try await TenantCodes(self).make(
                for: asked.tenant, asked.target(skips: skips), asked.challenge, asked.kind, browser)
            return .json(
                .ok,
                [
                    "authorization_code": .string(code.text),
                    "challenge_id": .integer(code.number), "state": .string(asked.state),
                ])
        case .failure(.secondFactorRequired), .failure(.invalidSecondFactor):
            await pause
            throw Problem(
                .invalidGrant,
                say(
                    "This account has a second factor. Sign in on the page of this service.",
                    "Dieses Konto hat einen zweiten Faktor. Melden Sie sich auf der Seite dieses Dienstes an."
                ))
        case .failure:
            // Of what was wrong its time tells nothing either.
            await pause
            throw Problem(
                .invalidGrant,
                say(
                    "That code is wrong or has expired. After a few attempts you need a new one.",
                    "Dieser Code ist falsch oder abgelaufen. Nach einigen Versuchen brauchen Sie einen neuen."
                ))
        }
    }
}
