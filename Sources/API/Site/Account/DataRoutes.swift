internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// The user's data: to be seen, exported and deleted, and the account moved to another address.
enum DataRoutes {
    static let table: [Route<RealmContext>] = [show, download, askDeletion, delete]

    private static let show = AccountRoute.show(
        "/account/data", id: "showData", "The data of the account."
    ) { call, frame throws(Problem) in
        try await page(call, frame)
    }

    static func page(
        _ call: Call<RealmContext>, _ frame: AccountFrame, _ addresses: AddressCard? = nil
    ) async throws(Problem) -> Response {
        let say = frame.say
        let addresses =
            if let addresses { addresses } else { try await AddressCard(call, frame) }
        return frame.page(.data, status: addresses.wrong == nil ? .ok : .badRequest) {
            Page.card {
                HTML.element(.h1) { say("Your data", "Ihre Daten") }
                addresses.html
            }
            Page.card {
                HTML.element(.h2) { say("Download", "Herunterladen") }
                HTML.element(.p, .class("soft")) {
                    say(
                        "Download everything we store about you (JSON).",
                        "Laden Sie alles herunter, was wir über Sie speichern (JSON).")
                }
                Parts.link(
                    say("Download my data", "Meine Daten herunterladen"),
                    to: "/account/data.json", look: "button second short")
            }
            Page.card {
                HTML.element(.h2) { say("Delete account", "Konto löschen") }
                HTML.element(.p, .class("soft")) {
                    say(
                        "Permanently delete your account and all personal data in it.",
                        "Löschen Sie Ihr Konto und alle persönlichen Daten darin endgültig.")
                }
                Parts.link(
                    say("Delete my account", "Mein Konto löschen"), to: "/account/delete",
                    look: "button danger short")
            }
        }
    }

    private static let download = AccountRoute.show(
        "/account/data.json", id: "downloadData", "The personal data of the account, as JSON.",
        isSensitive: true
    ) { call, frame throws(Problem) in
        var response = Response.json(.ok, try await call.knownData(of: frame.account))
        response.headers["Content-Disposition"] = #"attachment; filename="my-data.json""#
        return response
    }

    // MARK: - The end

    private static let askDeletion = AccountRoute.show(
        "/account/delete", id: "showDeletion", "Asks before deleting an account.",
        isSensitive: true
    ) { call, frame throws(Problem) in
        let say = frame.say
        let days = call.context.place.settings[SettingCatalogue.accountDeletionGrace] / 86_400
        let email = try await PersonClaims(call.context).address(of: frame.account)
        return frame.page(.data, say("Delete account", "Konto löschen")) {
            Page.card {
                HTML.element(.h1) { say("Delete your account?", "Ihr Konto löschen?") }
                AskingParts.signedIn(as: email ?? "", say)
                HTML.element(.p) {
                    say(
                        "You are signed out everywhere at once and can no longer sign in.",
                        "Sie werden sofort überall abgemeldet und können sich nicht mehr anmelden.")
                }
                HTML.element(.p) {
                    days > 0
                        ? say(
                            "After \(days) days all personal data is permanently deleted. If you change your mind before then, use the link in the e-mail that we send you.",
                            "Nach \(days) Tagen werden alle persönlichen Daten endgültig gelöscht. Überlegen Sie es sich vorher anders, nehmen Sie den Link in der E-Mail, die wir Ihnen schicken."
                        )
                        : say(
                            "All personal data is permanently deleted.",
                            "Alle persönlichen Daten werden endgültig gelöscht.")
                }
                frame.visit.form("/account/delete") {
                    Parts.button(say("Delete my account", "Mein Konto löschen"), look: "danger")
                }
                HTML.element(.p, .class("links")) {
                    Parts.link(say("Cancel", "Abbrechen"), to: "/account")
                }
            }
        }
    }

    private static let delete = AccountRoute.change(
        "/account/delete", id: "deleteAccountOnPage", "Has one's own account deleted.",
        from: .data
    ) { call, frame throws(Problem) in
        let now = call.context.clock.now()
        try await Commands(call).dispatch(
            AccountChange.scheduleDeletion(
                frame.account, mail: call.context.newID(),
                keepBase: call.context.place.keepBase,
                now: now),
            as: .browser(frame.browser))
        let say = frame.say
        var response = frame.visit.page(say("Deletion scheduled", "Löschung vorgemerkt")) {
            Page.card {
                HTML.element(.h1) {
                    say(
                        "Your account is scheduled for deletion",
                        "Ihr Konto ist zur Löschung vorgemerkt")
                }
                HTML.element(.p) {
                    say(
                        "We've sent you an e-mail about it.",
                        "Wir haben Ihnen eine E-Mail dazu geschickt.")
                }
            }
        }
        response.headers.append("Set-Cookie", PageCookie.session.removal)
        return response
    }
}
