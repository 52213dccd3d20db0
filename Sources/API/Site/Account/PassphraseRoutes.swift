internal import Cryptography
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// The passphrase of the user's own account.
enum PassphraseRoutes {
    static let table: [Route<RealmContext>] = [set, remove]

    static func card(
        _ passphrase: Passphrase, _ frame: AccountFrame, _ email: String?,
        wrong: SecurityRoutes.FormError?
    ) -> HTML {
        let say = frame.say
        var fault: String?
        if case .passphrase(let text) = wrong { fault = text }
        let said = fault
        return Page.card {
            HTML.element(.h2) { say("Passphrase", "Passphrase") }
            HTML.element(.p, .class("soft")) {
                say(
                    "Use several unrelated words (\(PassphraseRule.length.lowerBound) characters or more).",
                    "Nehmen Sie mehrere Wörter ohne Zusammenhang (mindestens \(PassphraseRule.length.lowerBound) Zeichen)."
                )
            }
            if let setAt = passphrase.setAt {
                HTML.element(.p) {
                    HTML.element(.span, .class("badge")) { say("On", "An") }
                    say(" since ", " seit ")
                    say.moment(setAt)
                }
            }
            frame.visit.form("/account/passphrase") {
                Parts.userName(email, say)
                Field(
                    name: "passphrase", label: say("New passphrase", "Neue Passphrase"),
                    type: "password", autocomplete: "new-password", limit: Field.passphraseLimit,
                    wrong: said
                ).html
                Parts.button(
                    passphrase.hash == nil
                        ? say("Set passphrase", "Passphrase setzen")
                        : say("Change passphrase", "Passphrase ändern"), look: "second short")
            }
            if passphrase.hash != nil {
                HTML.element(.div, .class("links")) {
                    frame.visit.form("/account/passphrase/remove") {
                        Parts.button(
                            say("Remove passphrase", "Passphrase entfernen"), look: "plain")
                    }
                }
            }
        }
    }

    private static let set = AccountRoute.change(
        "/account/passphrase", id: "setPassphrase", "Sets one's passphrase.",
        [.optional("passphrase", .text(0...1024), "Passphrase, as it was typed.")], from: .security
    ) { call, frame throws(Problem) in
        guard call.context.place.settings.offers(.passphrase) else { throw Problem(.noSuchRoute) }
        try RateCounter(call).count(.twoFactor, target: frame.account.description)
        let hash: String
        switch try await Passphrases(call).hash(
            ofNew: call.body["passphrase"]?.string ?? "", of: frame.account)
        {
        case .failure(let fault): return try await refused(fault, call, frame)
        case .success(let made): hash = made
        }
        try await Commands(call).dispatch(
            SetPassphrase(
                account: frame.account, hash: hash, session: call.signedIn(frame.browser),
                mail: call.context.newID(), now: call.context.clock.now()),
            as: .browser(frame.browser))
        return .seeOther(.security, .passphraseSet)
    }

    private static func refused(
        _ fault: PassphraseRule.Fault, _ call: Call<RealmContext>, _ frame: AccountFrame
    ) async throws(Problem) -> Response {
        return try await SecurityRoutes.page(
            call, frame, wrong: .passphrase(fault.said(frame.say)))
    }

    private static let remove = AccountRoute.change(
        "/account/passphrase/remove", id: "removePassphrase", "Removes one's passphrase.",
        from: .security
    ) { call, frame throws(Problem) in
        try await Commands(call).dispatch(
            RemovePassphrase(
                account: frame.account, session: call.signedIn(frame.browser),
                mail: call.context.newID(), now: call.context.clock.now()),
            as: .browser(frame.browser))
        return .seeOther(.security, .passphraseRemoved)
    }
}

extension Call<RealmContext> {
    func signedIn(_ browser: SignedInBrowser) -> SignedIn {
        SignedIn(client: nil, app: context.place.app, at: browser.authenticatedAt)
    }
}

extension PassphraseRejection: Refusal {
    var problem: Problem {
        switch self {
        case .accountBlocked: Problem(.forbidden)
        case .notOffered, .notSet: Problem(.noSuchRoute)
        case .signInTooOld(let limit): .signInTooOld(limit)
        }
    }
}
