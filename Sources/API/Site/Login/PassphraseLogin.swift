internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Signing in on a page by a passphrase, and by a second factor after it.
enum PassphraseLogin {
    static let table: [Route<RealmContext>] = [second]

    /// Seconds to find the telephone.
    private static let patience: Int64 = 300

    /// What the form of the sign-in page leads to.
    static func begin(
        _ call: Call<RealmContext>, _ page: LoginPage, _ address: String
    ) async throws(Problem) -> Response {
        let mailbox = call.context.mint.mailbox(address)
        try RateCounter(call).count(.passphrase, target: mailbox.description)
        let compared = try await Passphrases(call).compare(
            call.body["passphrase"]?.string ?? "", for: mailbox)
        let end = try await BrowserSignIns(call).signIn(
            PassphraseProof(
                mailbox: mailbox, comparison: compared.comparison, rehashed: compared.rehashed,
                mail: call.context.newID()),
            by: .passphrase, page.visit, to: page.returnTarget)
        switch end {
        case .signedIn(let response): return response
        case .refused(.secondFactorRequired):
            guard case .right(let hash) = compared.comparison else {
                throw Problem(.internalError)
            }
            let ticket = call.context.mint.secondStepTicket(
                mailbox, compared.rehashed ?? hash, form: page.visit.formName,
                until: call.context.clock.now().adding(seconds: patience))
            return secondPage(page.visit, page.returnTarget, address, ticket, isWrong: false)
        // During its lock the right one is told nothing else: who guesses would learn that it is right.
        case .refused:
            var page = page
            page.wrongPassphrase = page.visit.say(
                "Wrong e-mail address or passphrase. After several attempts you may have to wait.",
                "E-Mail-Adresse oder Passphrase ist falsch. Nach mehreren Versuchen müssen Sie vielleicht warten."
            )
            page.forgotten = try call.place(
                of: CodeAddress(email: address, page: .forgotten), page.visit, page.returnTarget)
            return page.response(.badRequest)
        }
    }

    private static let second = Route<RealmContext>(
        .post, "/login/second", id: "loginBySecondFactor", tag: "Pages",
        summary: "Checks the second factor after a passphrase.", right: .nothing, voice: .page,
        parameters: ReturnTarget.parameters,
        body: .page(
            ReturnTarget.members + [
                .optional("email", .text(0...320), "Mail address."),
                .optional("ticket", .text(0...200), "Ticket that proves the passphrase."),
                .optional(
                    "totp", .text(0...128),
                    "TOTP code of the authenticator app, or a recovery code."),
            ]), answer: .page, refusals: Page.refusals
    ) { call throws(Problem) in
        if let response = try await PageRequest(call).onwardIfSentAgain() { return response }
        let visit = try await PageRequest(call).submission()
        let returnTarget = ReturnTarget(call)
        let ticket = call.body["ticket"]?.string ?? ""
        guard let address = PageRequest(call).typedSignInAddress()?.text else {
            return .seeOther(returnTarget.link("/login"))
        }
        let mailbox = call.context.mint.mailbox(address)
        try RateCounter(call).count(.passphrase, target: mailbox.description)
        guard let hash = try await Passphrases(call).hash(of: mailbox),
            call.context.mint.isTicket(
                ticket, mailbox, hash, form: visit.formName, at: call.context.clock.now())
        else { return .seeOther(returnTarget.link("/login")) }
        guard let typed = SecondFactors(call).typed(call.body["totp"]?.string) else {
            return secondPage(visit, returnTarget, address, ticket, isWrong: true)
        }
        let end = try await BrowserSignIns(call).signIn(
            PassphraseProof(mailbox: mailbox, comparison: .right(hash: hash), second: typed),
            by: .passphrase, visit, to: returnTarget)
        switch end {
        case .signedIn(let response): return response
        case .refused(.invalidSecondFactor):
            return secondPage(visit, returnTarget, address, ticket, isWrong: true)
        case .refused: return .seeOther(returnTarget.link("/login"))
        }
    }

    private static func secondPage(
        _ visit: PageVisit, _ returnTarget: ReturnTarget, _ address: String, _ ticket: String,
        isWrong: Bool
    ) -> Response {
        SecondFactorPage.response(
            visit, isWrong, isWrong ? .badRequest : .ok, action: returnTarget.link("/login/second"),
            leadsAway: returnTarget.sealed != nil
        ) {
            returnTarget.fields
            Parts.hidden("email", address)
            Parts.hidden("ticket", ticket)
        }
    }
}
