internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import OneTimeCodes
internal import QRCode
internal import Values

/// The authenticator app of the user's own account.
enum TOTPPageRoutes {
    static let table: [Route<RealmContext>] = [begin, show, picture, confirm, change]

    static let path = "/account/authenticator"

    static func card(
        _ factor: TwoFactor, _ frame: AccountFrame, wrong: SecurityRoutes.FormError?
    ) -> HTML {
        let say = frame.say
        var fault: (change: Change, text: String)?
        if case .authenticator(let change, let text) = wrong { fault = (change, text) }
        let said = fault
        return Page.card {
            HTML.element(.h2) { say("Authenti\u{AD}cator app", "Authenti\u{AD}cator-App") }
            HTML.element(.p, .class("soft")) {
                say(
                    "Adds a second step: a code from an app on your phone.",
                    "Fügt einen zweiten Schritt hinzu: einen Code aus einer App auf Ihrem Telefon."
                )
            }
            if factor.enrolled == nil {
                frame.visit.form("\(path)/begin") {
                    Parts.button(
                        say("Set up an app", "App einrichten"), look: "second short")
                }
            } else {
                HTML.element(.p) {
                    HTML.element(.span, .class("badge")) { say("On", "An") }
                    " "
                    say(
                        "\(factor.recoveryCodes.count) recovery codes left",
                        "\(factor.recoveryCodes.count) Wiederherstellungscodes übrig")
                }
                HTML.element(.div, .class("pair")) {
                    for change in Change.allCases {
                        form(
                            change, frame, wrong: said?.change == change ? said?.text : nil)
                    }
                }
            }
        }
    }

    /// What a user who has an authenticator app can change about it, with a code of it.
    enum Change: String, CaseIterable {
        case codes, remove

        func name(_ say: LocalizedText) -> String {
            switch self {
            case .codes:
                say("New recovery codes", "Neue Wieder\u{AD}herstellungs\u{AD}codes")
            case .remove: say("Remove the app", "App entfernen")
            }
        }
    }

    /// The code is asked for only once it is clear what for.
    private static func form(
        _ change: Change, _ frame: AccountFrame, wrong: String?
    ) -> HTML {
        let say = frame.say
        let look = change == .remove ? "danger" : "second"
        return HTML.element(
            .details, .name("authenticator"), .when(wrong != nil, .open)
        ) {
            HTML.element(.summary, .class(look)) { change.name(say) }
            frame.visit.form("\(path)/change") {
                Parts.hidden("what", change.rawValue)
                Field(
                    name: "totp", id: "totp-\(change.rawValue)",
                    label: say("Authenticator code", "Code der App"),
                    autocomplete: "one-time-code", limit: 32,
                    hint: say(
                        "The current code from the app, or a recovery code.",
                        "Der aktuelle Code der App oder ein Wiederherstellungscode."),
                    wrong: wrong
                ).html
                Parts.button(say("Confirm", "Bestätigen"), look: look)
            }
        }
    }

    private static let begin = AccountRoute.change(
        "\(path)/begin", id: "beginAuthenticator", "Gives a secret for an authenticator app.",
        from: .security
    ) { call, frame throws(Problem) in
        try RateCounter(call).count(.twoFactor, target: frame.account.description)
        try await Commands(call).dispatch(
            EnrollTOTP(
                account: frame.account, totp: call.context.newID(), secret: TOTP.generate().kept,
                now: call.context.clock.now()), as: .browser(frame.browser))
        return .seeOther(path)
    }

    private static let show = AccountRoute.show(
        path, id: "showAuthenticator", "Shows the enrolment of an authenticator app.",
        isSensitive: true
    ) { call, frame throws(Problem) in
        try await page(call, frame, isWrong: false)
    }

    private static func page(
        _ call: Call<RealmContext>, _ frame: AccountFrame, isWrong: Bool
    ) async throws(Problem) -> Response {
        let say = frame.say
        let offered: (uri: String, secret: String)
        do throws(Problem) {
            offered = try await SecondFactors(call).offeredURI(for: frame.account)
        } catch {
            guard error.kind == .invalidEnrollment else { throw error }
            return .seeOther(AccountFrame.Tab.security.rawValue)
        }
        return frame.page(
            .security, say("Set up an app", "App einrichten"),
            status: isWrong ? .badRequest : .ok
        ) {
            Page.card {
                HTML.element(.h1) {
                    say(
                        "Set up an authenti\u{AD}cator app",
                        "Authenti\u{AD}cator-App einrichten")
                }
                HTML.element(.p) {
                    say(
                        "Scan this QR code with the app, then enter the code that it shows.",
                        "Scannen Sie diesen QR-Code mit der App und geben Sie dann den Code ein, den sie zeigt."
                    )
                }
                HTML.element(
                    .img, .class("qr"), .source("\(path)/qr.svg"),
                    .alternative(
                        say(
                            "QR code for the authenticator app", "QR-Code für die Authenticator-App"
                        )),
                    .width(208), .height(208))
                HTML.element(.p, .class("soft small")) {
                    say(
                        "No camera? Enter this key: ",
                        "Keine Kamera? Geben Sie diesen Schlüssel ein: ")
                    HTML.element(.code, .class("break")) { grouped(offered.secret) }
                }
                frame.visit.form("\(path)/confirm") {
                    Field(
                        name: "code", label: say("Code of the app", "Code der App"),
                        autocomplete: "one-time-code", isCode: true, isFocused: true, limit: 12,
                        wrong: isWrong
                            ? say(
                                "That code is wrong or has expired.",
                                "Dieser Code ist falsch oder abgelaufen.") : nil
                    ).html
                    Parts.button(say("Turn on", "Einschalten"))
                }
            }
        }
    }

    private static func grouped(_ secret: String) -> String {
        secret.enumerated().map { index, letter in
            index > 0 && index % 4 == 0 ? " \(letter)" : "\(letter)"
        }.joined()
    }

    private static let picture = AccountRoute.show(
        "\(path)/qr.svg", id: "showAuthenticatorPicture", "The picture for the app.",
        isSensitive: true
    ) { call, frame throws(Problem) in
        let offered = try await SecondFactors(call).offeredURI(for: frame.account)
        return .text(.ok, "image/svg+xml", try QRCode.picture(of: offered.uri).svg)
    }

    private static let confirm = AccountRoute.change(
        "\(path)/confirm", id: "confirmAuthenticator", "Takes the first code of the app.",
        [.optional("code", .text(0...64), "TOTP code of the authenticator app.")], from: .security
    ) { call, frame throws(Problem) in
        try RateCounter(call).count(.twoFactor, target: frame.account.description)
        guard let typed = SecondFactors(call).typed(call.body["code"]?.string) else {
            return try await page(call, frame, isWrong: true)
        }
        let codes = RecoveryCode.generateSet()
        let rejection = try await Commands(call).attempt(
            ConfirmTOTP(
                account: frame.account, typed: typed,
                recoveryCodes: try SecondFactors(call).digests(of: codes, for: frame.account),
                mail: call.context.newID(), now: call.context.clock.now()),
            as: .browser(frame.browser))
        switch rejection {
        case nil: return .seeOther(try RecoveryCodeRoutes.place(of: codes, call, frame))
        case .wrongCode: return try await page(call, frame, isWrong: true)
        // The same form once more: it is on, and nothing went wrong.
        case .enrolledAlready: return .seeOther(RecoveryCodeRoutes.placeWithout)
        case let rejection?: throw rejection.problem
        }
    }

    private static let change = AccountRoute.change(
        "\(path)/change", id: "changeAuthenticator",
        "Takes the app away, or gives new recovery codes.",
        [
            .optional(
                "totp", .text(0...128), "TOTP code of the authenticator app, or a recovery code."),
            .optional("what", .text(0...20), "Action to perform."),
        ], from: .security
    ) { call, frame throws(Problem) in
        try RateCounter(call).count(.twoFactor, target: frame.account.description)
        let now = call.context.clock.now()
        guard let typed = SecondFactors(call).typed(call.body["totp"]?.string) else {
            return try await wrong(call, frame)
        }
        let codes = RecoveryCode.generateSet()
        let outcome: TwoFactorOutcome
        do throws(Problem) {
            outcome =
                call.body["what"]?.string == "codes"
                ? try await SecondFactors(call).change(
                    RenewRecoveryCodes(
                        account: frame.account, typed: typed,
                        recoveryCodes: try SecondFactors(call).digests(
                            of: codes, for: frame.account), now: now),
                    by: frame.browser)
                : try await SecondFactors(call).change(
                    RemoveTOTP(
                        account: frame.account, typed: typed, mail: call.context.newID(), now: now),
                    by: frame.browser)
        } catch {
            guard [.invalidEnrollment, .noTwoFactor].contains(error.kind) else { throw error }
            return try await wrong(call, frame)
        }
        guard case .success = outcome else { return try await wrong(call, frame) }
        return call.body["what"]?.string == "codes"
            ? .seeOther(try RecoveryCodeRoutes.place(of: codes, call, frame))
            : .seeOther(.security, .appRemoved)
    }

    private static func wrong(
        _ call: Call<RealmContext>, _ frame: AccountFrame
    ) async throws(Problem) -> Response {
        try await SecurityRoutes.page(
            call, frame,
            wrong: .authenticator(
                call.body["what"]?.string.flatMap(Change.init) ?? .remove,
                frame.say(
                    "That code is wrong, or there were too many attempts. Try the next code, or wait a few minutes.",
                    "Dieser Code ist falsch, oder es waren zu viele Versuche. Nehmen Sie den nächsten Code, oder warten Sie einige Minuten."
                )))
    }
}
