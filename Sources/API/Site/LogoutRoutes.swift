internal import HTML
internal import HTTP
internal import Identity
internal import JSON

/// Signing out with this browser.
enum LogoutRoutes {
    static let table: [Route<RealmContext>] = [ask, signOut, done]

    private static let ask = Route<RealmContext>(
        .get, "/logout", id: "showLogout", tag: "Pages",
        summary: "Shows the page that confirms signing out.",
        right: .nothing, voice: .page, answer: .page, refusals: Place.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        let asked = LocalizedText.asked(by: call.request)
        guard visit.browser != nil else {
            return .seeOther(LocalizedText.page("/logged-out", in: asked))
        }
        let say = visit.say
        return visit.page(say("Sign out", "Abmelden")) {
            Page.card {
                HTML.element(.h1) { say("Sign out?", "Abmelden?") }
                HTML.element(.p) {
                    say(
                        "You will be signed out with this browser.",
                        "Sie werden in diesem Browser abgemeldet.")
                }
                visit.form(LocalizedText.page("/logout", in: asked)) {
                    Parts.button(say("Sign out", "Abmelden"))
                }
                HTML.element(.p, .class("links")) {
                    Parts.link(say("Stay signed in", "Angemeldet bleiben"), to: "/account")
                }
            }
        }
    }

    private static let signOut = Route<RealmContext>(
        .post, "/logout", id: "logOutBrowser", tag: "Pages", summary: "Signs this browser out.",
        right: .nothing, voice: .page, body: .page([]), answer: .page,
        refusals: Page.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        if let browser = visit.browser {
            try await SessionEnds(call).logOut(browser)
        }
        var response = Response.seeOther(
            LocalizedText.page("/logged-out", in: LocalizedText.asked(by: call.request)))
        response.headers.append("Set-Cookie", PageCookie.session.removal)
        response.headers.append("Set-Cookie", PageCookie.form.removal)
        return response
    }

    private static let done = Route<RealmContext>(
        .get, "/logged-out", id: "showLoggedOut", tag: "Pages",
        summary: "Shows that the browser is signed out.", right: .nothing, voice: .page,
        answer: .page, refusals: Place.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        let say = visit.say
        return visit.notice(
            say("You are signed out", "Sie sind abgemeldet"),
            say(
                "If this is not your own device, close the browser now.",
                "Wenn das nicht Ihr eigenes Gerät ist, schließen Sie jetzt den Browser."),
            link: (say("Sign in again", "Wieder anmelden"), "/login"))
    }
}
