internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// What is known of somebody: to be seen, moved to another address, taken along, and deleted.
enum DataRoutes {
    static let table: [Route<RealmContext>] = [show, download, askDeletion, delete]

    private static let show = AccountRoute.show(
        "/account/data", id: "showData", "What is known of somebody."
    ) { call, frame throws(Problem) in
        try await page(call, frame)
    }

    static func page(
        _ call: Call<RealmContext>, _ frame: AccountFrame, typed: String = "",
        wrong: String? = nil
    ) async throws(Problem) -> Response {
        let say = frame.say
        let claims = try await call.claims(of: frame.account, ["email", "profile"])
        return frame.page(.data, status: wrong == nil ? .ok : .badRequest) {
            Page.card {
                HTML.element(.h1) { say("Your data", "Ihre Daten") }
                HTML.element(.h2) { say("E-mail address", "E-Mail-Adresse") }
                HTML.element(.p, .class("break")) {
                    Parts.address(claims["email"]?.string ?? "")
                }
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

    // MARK: - The end

    private static let askDeletion = AccountRoute.show(
        "/account/delete", id: "showDeletion", "Asks before deleting an account.",
        isSensitive: true
    ) { call, frame throws(Problem) in
        let say = frame.say
        let days = call.context.place.settings[SettingCatalogue.accountDeletionGrace] / 86_400
        let email = try await call.claims(of: frame.account, ["email"])["email"]?.string
        return frame.page(.data, say("Delete account", "Konto löschen")) {
            Page.card {
                HTML.element(.h1) { say("Delete your account?", "Ihr Konto löschen?") }
                AskingParts.signedIn(as: email ?? "", say)
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
}
