internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// What is known of somebody: to be seen, moved to another address, taken along, and deleted.
enum DataRoutes {
    static let table: [Route<RealmContext>] = [
        show, download, move, confirmMove, askDeletion, delete,
    ]

    private static let show = AccountRoute.show(
        "/account/data", id: "showData", "What is known of somebody."
    ) { call, frame throws(Problem) in
        try await page(call, frame)
    }

    private static func page(
        _ call: Call<RealmContext>, _ frame: AccountFrame, typed: String = "",
        wrong: String? = nil
    ) async throws(Problem) -> Response {
        let say = frame.say
        let claims = try await call.claims(of: frame.account, ["email", "profile"])
        return frame.page(.data, status: wrong == nil ? .ok : .badRequest) {
            Page.card {
                HTML.element(.h1) { say("Your data", "Ihre Daten") }
                HTML.element(.h2) { say("E-mail address", "E-Mail-Adresse") }
                HTML.element(.p, .class("break")) { claims["email"]?.string ?? "" }
                frame.visit.form("/account/email") {
                    Field(
                        name: "email", label: say("New address", "Neue Adresse"), type: "email",
                        value: typed, autocomplete: "email",
                        hint: say(
                            "We send a code there. Then you are signed out everywhere.",
                            "Wir schicken einen Code dorthin. Danach sind Sie überall abgemeldet."),
                        wrong: wrong
                    ).html
                    Parts.button(say("Change address", "Adresse ändern"), look: "second short")
                }
            }
            Page.card {
                HTML.element(.h2) { say("Download", "Herunterladen") }
                HTML.element(.p, .class("soft")) {
                    say(
                        "All that is known of you here, as a file for programs (JSON).",
                        "Alles, was hier über Sie bekannt ist, als Datei für Programme (JSON).")
                }
                Parts.link(
                    say("Download my data", "Meine Daten herunterladen"),
                    to: "/account/data.json", look: "button second short")
            }
            Page.card {
                HTML.element(.h2) { say("Delete account", "Konto löschen") }
                HTML.element(.p, .class("soft")) {
                    say(
                        "Your account and all that is personal in it are deleted for good.",
                        "Ihr Konto und alles Persönliche darin werden endgültig gelöscht.")
                }
                Parts.link(
                    say("Delete my account", "Mein Konto löschen"), to: "/account/delete",
                    look: "button danger short")
            }
        }
    }

    private static let download = AccountRoute.show(
        "/account/data.json", id: "downloadData", "All that is known of somebody, as JSON.",
        isSensitive: true
    ) { call, frame throws(Problem) in
        var response = Response.json(.ok, try await call.knownData(of: frame.account))
        response.headers["Content-Disposition"] = #"attachment; filename="my-data.json""#
        response.headers["Cache-Control"] = "no-store"
        return response
    }

    // MARK: - Another address

    private static let move = AccountRoute.change(
        "/account/email", id: "beginEmailChange", "Has a code mailed to a new address.",
        [.optional("email", .text(0...320), "The new address.")], from: .data
    ) { call, frame throws(Problem) in
        guard let address = call.typedAddress() else {
            return try await page(
                call, frame, typed: call.body["email"]?.string ?? "",
                wrong: frame.say(
                    "Enter a whole mail address.", "Geben Sie eine vollständige E-Mail-Adresse ein."
                ))
        }
        async let pause: Void = call.context.hesitate()
        let mint = call.context.mint
        let (mailbox, code) = (mint.mailbox(address), call.newID())
        try call.count(.emailVerification, target: frame.account.description)
        guard let digest = mint.digest(ofMove: mint.code(code), of: frame.account, to: mailbox)
        else { throw Problem(.internalError) }
        _ = try await call.ask(
            RequestMailboxMove(
                account: frame.account, mailbox: mailbox,
                person: Person(email: address, language: call.readersLanguage), code: code,
                digest: digest, app: call.context.place.app, now: call.context.clock.now()),
            as: "user:\(frame.account)")
        await pause
        return codePage(frame, address, isWrong: false)
    }

    private static func codePage(
        _ frame: AccountFrame, _ address: String, isWrong: Bool
    ) -> Response {
        let say = frame.say
        return frame.page(
            .data, say("Enter the code", "Code eingeben"), status: isWrong ? .badRequest : .ok
        ) {
            Page.card {
                HTML.element(.h1) { say("Check your mail", "Posteingang prüfen") }
                HTML.element(.p) {
                    say("If nobody uses ", "Falls niemand ")
                    HTML.element(.strong, .class("break")) { address }
                    say(
                        " here, a code is on its way there.",
                        " hier benutzt, ist ein Code dorthin unterwegs.")
                }
                frame.visit.form("/account/email/confirm") {
                    Parts.hidden("email", address)
                    Field(
                        name: "code", label: say("Code", "Code"), autocomplete: "one-time-code",
                        isCode: true, isFocused: true, limit: 12,
                        wrong: isWrong
                            ? say(
                                "That code is not valid, or no longer.",
                                "Dieser Code gilt nicht oder nicht mehr.") : nil
                    ).html
                    Parts.button(say("Change address", "Adresse ändern"))
                }
            }
        }
    }

    private static let confirmMove = AccountRoute.change(
        "/account/email/confirm", id: "confirmEmailChange", "Moves the account to a new address.",
        [
            .optional("email", .text(0...320), "The new address."),
            .optional("code", .text(0...64), "The code that was mailed there."),
        ], from: .data
    ) { call, frame throws(Problem) in
        guard let address = call.typedAddress() else { return .seeOther("/account/data") }
        let mint = call.context.mint
        let mailbox = mint.mailbox(address)
        try call.count(.emailOTPVerify, target: mailbox.description)
        let typed = (call.body["code"]?.string ?? "").filter { $0 != " " }
        let events = try await call.recorded(frame.account)
        guard let digest = mint.digest(ofMove: typed, of: frame.account, to: mailbox),
            var person = KnownPerson(events)?.person
        else { throw Problem(.internalError) }
        person.email = address
        let isMoved = try await call.ask(
            MoveMailbox(
                account: frame.account, mailbox: mailbox, digest: digest, person: person,
                nextSubject: call.newID(), mail: call.newID(), now: call.context.clock.now()),
            as: "user:\(frame.account)")
        guard isMoved else { return codePage(frame, address, isWrong: true) }
        var response = Response.seeOther("/login?next=/account/data")
        response.headers.append("Set-Cookie", PageCookie.session.removal)
        return response
    }

    // MARK: - The end

    private static let askDeletion = AccountRoute.show(
        "/account/delete", id: "showDeletion", "Asks before deleting an account.",
        isSensitive: true
    ) { call, frame throws(Problem) in
        let say = frame.say
        let days = call.context.place.settings[SettingCatalogue.accountDeletionGrace] / 86_400
        return frame.page(.data, say("Delete account", "Konto löschen")) {
            Page.card {
                HTML.element(.h1) { say("Delete your account?", "Ihr Konto löschen?") }
                HTML.element(.p) {
                    say(
                        "You are signed out everywhere at once and cannot sign in any more.",
                        "Sie werden sofort überall abgemeldet und können sich nicht mehr anmelden.")
                }
                HTML.element(.p) {
                    days > 0
                        ? say(
                            "After \(days) days all that is personal is destroyed for good. Until then, a link in the mail that we send you keeps your account if you change your mind.",
                            "Nach \(days) Tagen wird alles Persönliche endgültig zerstört. Bis dahin behalten Sie Ihr Konto über einen Link in der E-Mail, die wir Ihnen schicken, wenn Sie es sich anders überlegen."
                        )
                        : say(
                            "All that is personal is destroyed for good.",
                            "Alles Persönliche wird endgültig zerstört.")
                }
                frame.visit.form("/account/delete") {
                    Parts.button(say("Delete my account", "Mein Konto löschen"), look: "danger")
                }
                HTML.element(.p, .class("links")) {
                    Parts.link(say("Keep it", "Behalten"), to: "/account")
                }
            }
        }
    }

    private static let delete = AccountRoute.change(
        "/account/delete", id: "deleteAccountOnPage", "Has one's own account deleted.",
        from: .data
    ) { call, frame throws(Problem) in
        let now = call.context.clock.now()
        try await call.carryOut(
            ScheduleDeletion(
                account: frame.account, mail: call.newID(), keepBase: call.keepBase, now: now),
            for: frame.browser)
        let say = frame.say
        var response = frame.visit.page(say("Account deleted", "Konto gelöscht")) {
            Page.card {
                HTML.element(.h1) { say("Good-bye", "Auf Wiedersehen") }
                HTML.element(.p) {
                    say(
                        "Your account will be deleted. We have sent you a mail about it.",
                        "Ihr Konto wird gelöscht. Wir haben Ihnen eine E-Mail dazu geschickt.")
                }
            }
        }
        response.headers.append("Set-Cookie", PageCookie.session.removal)
        return response
    }
}

extension Call<RealmContext> {
    func recorded(_ stream: UUID) async throws(Problem) -> [Recorded] {
        try await reading { () throws(LogFailure) in
            try await context.commands.events.stream(stream, after: 0, in: context.place.realm)
        }
    }

    /// All that is known of somebody (GDPR article 15 and 20), opened for who it is about.
    fileprivate func knownData(of account: UUID) async throws(Problem) -> JSON {
        let (realm, now) = (context.place.realm, context.clock.now())
        var passkeys: [JSON] = []
        for passkey in try await self.passkeys(of: account) {
            var members: JSONObject = [
                "name": .string(try await name(of: passkey)),
                "enrolled_at": .string(passkey.enrolledAt.description),
            ]
            members["used_at"] = passkey.usedAt.map { .string($0.description) }
            passkeys.append(.object(members))
        }
        let browsers = try await reading { () throws(LogFailure) in
            try await context.queries.browserSessions(of: account, in: realm, at: now)
        }
        let history = try await reading { () throws(LogFailure) in
            try await context.queries.loginHistory(
                of: realm, LoginSelection(account: account), after: nil, limit: 1000)
        }
        let factor = try await twoFactor(of: account)
        var events: [JSON] = []
        for recorded in try await recorded(account) {
            var members = recorded.open
            if case .opened(let personal) = recorded.personal { members.merge(personal) { $1 } }
            events.append([
                "what": .string(recorded.name), "at": .string(recorded.at.description),
                "data": .object(members),
            ])
        }
        return [
            "account": .object(try await claims(of: account, ["email", "profile"])),
            "passkeys": .array(passkeys),
            "authenticator_app": .bool(factor.enrolled != nil),
            "browsers": .array(
                browsers.map { browser in
                    [
                        "signed_in_at": .string(browser.terms.openedAt.description),
                        "device": browser.terms.from.device.map { .string($0) } ?? .null,
                        "method": .string(browser.terms.method.rawValue),
                    ]
                }),
            "apps": .array(
                try await openSessions(of: account).map { session in
                    [
                        "client": .string(session.terms.clientID),
                        "scope": .array(session.terms.scope.map { .string($0) }),
                        "since": .string(session.openedAt.description),
                    ]
                }),
            "sign_ins": .array(history.map { .object($0.members) }), "events": .array(events),
        ]
    }
}
