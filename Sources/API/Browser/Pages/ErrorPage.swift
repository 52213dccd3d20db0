internal import HTML
internal import HTTP
internal import JSON

extension Problem {
    /// What people are told: never what the request held, and never what is behind it.
    func pageResponse(_ request: Request, in look: PageLook) -> Response {
        let (title, advice) = words(look.say, request)
        return Page(
            title: title, look: look,
            content: Page.card {
                HTML.element(.h1) { title }
                HTML.element(.p) { advice }
                // In words of ours alone: they are for the application's developer.
                if kind == .invalidRequest, !detail.isEmpty {
                    HTML.element(.p, .class("note bad small"), .fixed("lang", "en")) { detail }
                }
                // It names the hosts that lead somewhere, where they are public.
                if kind == .unknownHost, !detail.isEmpty {
                    HTML.element(.p, .class("soft small break"), .fixed("lang", "en")) { detail }
                }
                if let nextPage {
                    Parts.link(
                        text(ofWayOn: nextPage, look.say), to: nextPage,
                        look: kind.status == .tooManyRequests ? "button second" : "button")
                }
                if kind.status == .notFound, let home = look.home {
                    HTML.element(.p, .class("links")) {
                        Parts.link(look.say("To your account", "Zu Ihrem Konto"), to: home)
                    }
                }
                HTML.element(.p, .class("soft small break")) {
                    look.say("Reference: \(request.id)", "Vorgang: \(request.id)")
                }
            }
        ).response(kind.status)
    }

    /// What there was too much of is refused there as well: the button must not promise more.
    private func text(ofWayOn place: String, _ say: LocalizedText) -> String {
        guard kind.status == .tooManyRequests else { return say("Continue", "Weiter") }
        return place.hasPrefix("/login") || place.hasPrefix("/auth/login")
            ? say("Back to sign in", "Zurück zur Anmeldung")
            : say("Back to your account", "Zurück zu Ihrem Konto")
    }

    /// The host as the user typed it, no longer than a host name can be.
    private func host(of request: Request) -> String {
        String((request.headers["Host"] ?? "").prefix(255))
    }

    private func wait(_ say: LocalizedText) -> String {
        members["retryAfterSeconds"]?.integer.map(say.span)
            ?? say("a few minutes", "ein paar Minuten")
    }

    private func expired(_ say: LocalizedText) -> (title: String, advice: String) {
        (
            say("This page has expired", "Diese Seite ist abgelaufen"),
            nextPage != nil
                ? say(
                    "You may have signed in or out elsewhere since it was opened. Cookies must be allowed for it.",
                    "Vielleicht haben Sie sich inzwischen anderswo an- oder abgemeldet. Cookies müssen für die Seite erlaubt sein."
                )
                : say(
                    "Go back, reload the page and try again. Cookies must be allowed for it.",
                    "Gehen Sie zurück, laden Sie die Seite neu und versuchen Sie es noch einmal. Cookies müssen dafür erlaubt sein."
                )
        )
    }

    private func words(_ say: LocalizedText, _ request: Request) -> (title: String, advice: String)
    {
        switch kind.status {
        case .notFound where kind == .unknownHost:
            (
                say(
                    "No site is set up for \(host(of: request))",
                    "Für \(host(of: request)) ist keine Website eingerichtet"),
                say(
                    "Check the address for typing errors. If you run this server, add this host to a realm.",
                    "Prüfen Sie die Adresse auf Tippfehler. Wenn Sie diesen Server betreiben, fügen Sie diesen Host einem Realm hinzu."
                )
            )
        case .forbidden where kind == .foreignForm: expired(say)
        case .notFound, .methodNotAllowed:
            (
                say("Page not found", "Seite nicht gefunden"),
                say(
                    "There is nothing at this address.", "Unter dieser Adresse gibt es nichts.")
            )
        case .tooManyRequests:
            (
                say("Too many attempts", "Zu viele Versuche"),
                say(
                    "Please wait \(wait(say)), then try again.",
                    "Bitte warten Sie \(wait(say)) und versuchen Sie es dann noch einmal.")
            )
        case .badRequest where kind == .invalidRequest:
            (
                say("Something is wrong with this link", "Mit diesem Link stimmt etwas nicht"),
                say(
                    "\(appName ?? "The app") sent an invalid sign-in request. Go back and try again. If it keeps happening, contact the app's support and quote:",
                    "\(appName ?? "Die App") hat eine ungültige Anmeldeanfrage gesendet. Gehen Sie zurück und versuchen Sie es noch einmal. Kommt das wieder vor, wenden Sie sich an den Support der App und nennen Sie:"
                )
            )
        case .forbidden:
            (
                say("Not available", "Nicht verfügbar"),
                say(
                    "This page is not available to you.", "Diese Seite ist für Sie nicht verfügbar."
                )
            )
        default:
            kind.status.code >= 500
                ? (
                    say("Something went wrong", "Etwas ist schiefgegangen"),
                    say(
                        "It is not your fault. Please try again in a moment.",
                        "Es liegt nicht an Ihnen. Bitte versuchen Sie es gleich noch einmal.")
                )
                : (
                    say("That did not work", "Das hat nicht geklappt"),
                    say(
                        "The request was invalid. Please start again.",
                        "Die Anfrage war ungültig. Bitte beginnen Sie noch einmal von vorn.")
                )
        }
    }
}
