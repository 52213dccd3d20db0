internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// A link in the place of a code: it is opened in any browser, and the page that asked for it goes on.
enum LinkPageRoutes {
    static let table: [Route<RealmContext>] = [
        wait, state, finish, open, confirm, WaitingScript.asset, DirectScript.asset,
    ]

    private static let wait = Route<RealmContext>(
        .get, "/app/wait", id: "showVerifyWaitPage", tag: "Verify",
        summary: "Shows that a link is on its way.", right: .nothing, voice: .verifyPage,
        parameters: VerifyRequest.parameters + [SentCode.parameter], answer: .page,
        refusals: Place.refusals + [.invalidRequest]
    ) { call throws(Problem) in
        let asked = try await call.verifyRequest()
        let visit = try await PageRequest(call).visit()
        guard let sealed = call.text("to"),
            let sent = SentCode(sealed, call, in: asked.binding(visit)),
            let link = sent.link
        else { return .seeOther(asked.path(HostedPage.path)) }
        return HostedPage(visit: visit, asked: asked).waiting(
            sent, sealed, number: call.context.mint.number(ofLink: link))
    }

    private static let state = Route<RealmContext>(
        .get, "/app/wait/state", id: "getVerifyLinkState", tag: "Verify",
        summary: "Says whether the link was opened.", right: .nothing, voice: .verifyPage,
        parameters: VerifyRequest.parameters + [SentCode.parameter], answer: .page,
        refusals: Place.refusals + [.invalidRequest]
    ) { call throws(Problem) in
        let asked = try await call.verifyRequest()
        let visit = try await PageRequest(call).visit()
        guard let sent = SentCode(call.text("to"), call, in: asked.binding(visit)) else {
            return .json(.ok, ["confirmed": false])
        }
        return .json(.ok, ["confirmed": .bool(try await call.isConfirmed(sent))])
    }

    private static let finish = Route<RealmContext>(
        .post, "/app/wait", id: "finishVerifyLink", tag: "Verify",
        summary: "Goes back to the app once the link was opened.", right: .nothing,
        voice: .verifyPage, parameters: VerifyRequest.parameters + [SentCode.parameter],
        body: .page([
            .optional(
                "totp", .text(0...128), "TOTP code of the authenticator app, or a recovery code.")
        ]), answer: .page,
        refusals: Page.refusals + [.invalidRequest]
    ) { call throws(Problem) in
        let asked = try await call.verifyRequest()
        let visit = try await PageRequest(call).submission()
        guard let sealed = call.text("to"),
            let sent = SentCode(sealed, call, in: asked.binding(visit)),
            let link = sent.link
        else { return .seeOther(asked.path(HostedPage.path)) }
        let page = HostedPage(visit: visit, asked: asked)
        let number = call.context.mint.number(ofLink: link)
        // What was not confirmed yet is no attempt that failed.
        guard try await call.isConfirmed(sent) else {
            return page.waiting(sent, sealed, number: number, isEarly: true)
        }
        var grant = OTPGrant(
            mailbox: call.context.mint.mailbox(sent.address), shown: ShownSecret([]),
            account: call.context.newID(),
            second: SecondFactors(call).typed(call.body["totp"]?.string))
        grant.confirmed = link
        switch try await BrowserSignIns(call).open(grant, by: .code, visit) {
        case .success(let opened): return try await call.leadBack(asked, opened)
        case .failure(.secondFactorRequired), .failure(.invalidSecondFactor):
            return SecondFactorPage.response(
                visit, call.body["totp"] != nil,
                action: asked.path(HostedPage.waitPath, [("to", sealed)]), leadsAway: true
            ) {}
        case .failure: return page.waiting(sent, sealed, number: number, isEarly: true)
        }
    }

    private static let parameters = [
        Parameter("to", in: .query, .text(0...64), "Address that the link was sent to."),
        Parameter("token", in: .query, .text(0...64), "Token in the link."),
    ]

    private static let open = Route<RealmContext>(
        .get, "/app/open", id: "openVerifyLink", tag: "Verify",
        summary: "Asks whether the address is to be confirmed.", right: .nothing,
        voice: .verifyPage, parameters: parameters, answer: .page, refusals: Place.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        guard let mailbox = call.text("to").flatMap({ UUID($0) }), let token = call.text("token"),
            let shown = call.context.mint.shown(magicToken: token)
        else { return HostedPage.expired(visit) }
        let code = try await RealmLookups(call.context).folded(Mailbox.self, mailbox)
            .code(ofLink: shown)
        guard let code,
            call.context.clock.now() < code.expiresAt
        else { return HostedPage.expired(visit) }
        return HostedPage.opened(
            visit, "/app/open?to=\(mailbox)&token=\(Percent.encode(token))",
            number: call.context.mint.number(ofLink: code.id))
    }

    private static let confirm = Route<RealmContext>(
        .post, "/app/open", id: "confirmVerifyLink", tag: "Verify",
        summary: "Confirms the address to the page that asked.", right: .nothing,
        voice: .verifyPage, parameters: parameters, body: .page([]), answer: .page,
        refusals: Page.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        guard let mailbox = call.text("to").flatMap({ UUID($0) }), let token = call.text("token"),
            let shown = call.context.mint.shown(magicToken: token)
        else { return HostedPage.expired(visit) }
        let command = ConfirmOTP(
            mailbox: mailbox, shown: shown, app: call.context.place.app,
            now: call.context.clock.now())
        let refusal = try await Commands(call).attempt(command, as: .anonymous)
        return refusal == nil ? HostedPage.confirmed(visit) : HostedPage.expired(visit)
    }
}

extension Call<RealmContext> {
    func isConfirmed(_ sent: SentCode) async throws(Problem) -> Bool {
        guard let link = sent.link else { return false }
        return try await RealmLookups(context).folded(
            Mailbox.self, context.mint.mailbox(sent.address)
        ).isConfirmed(link)
    }
}

extension TokenMint {
    /// Two digits on both pages of a link, so that a person sees that they belong together.
    func number(ofLink id: UUID) -> String {
        String(
            derive(.magicLinkDigest, id.bytes).prefix(4).reduce(0) { ($0 * 256 + Int($1)) % 90 }
                + 10)
    }
}
