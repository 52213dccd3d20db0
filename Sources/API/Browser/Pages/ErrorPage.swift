internal import HTML
internal import HTTP
internal import JSON

extension Problem {
    /// What people are told: never what the request held, and never what is behind it.
    func pageResponse(_ request: Request, in look: PageLook) -> Response {
        let (title, advice) = words(look.say)
        return Page(
            title: title, look: look,
            content: Page.card {
                HTML.element(.h1) { title }
                HTML.element(.p) { advice }
                // In words of ours alone: they are for whoever wrote the application.
                if kind == .invalidRequest, !detail.isEmpty {
                    HTML.element(.p, .class("note bad small"), .fixed("lang", "en")) { detail }
                }
                if let wayOn {
                    Parts.link(look.say("Go on", "Weiter"), to: wayOn, look: "button")
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

    private func wait(_ say: Words) -> String {
        members["retryAfterSeconds"]?.integer.map(say.span)
            ?? say("a few minutes", "ein paar Minuten")
    }

    private func words(_ say: Words) -> (title: String, advice: String) {
        switch kind.status {
        case .forbidden where kind == .foreignForm && wayOn != nil:
            (
                say("This page has expired", "Diese Seite ist abgelaufen"),
                say(
                    "You may have signed in or out elsewhere since it was opened. Cookies must be allowed for it.",
                    "Vielleicht haben Sie sich inzwischen anderswo an- oder abgemeldet. Cookies müssen für die Seite erlaubt sein."
                )
            )
        case .forbidden where kind == .foreignForm:
            (
                say("This page has expired", "Diese Seite ist abgelaufen"),
                say(
                    "Go back, reload the page and try again. Cookies must be allowed for it.",
                    "Gehen Sie zurück, laden Sie die Seite neu und versuchen Sie es noch einmal. Cookies müssen dafür erlaubt sein."
                )
            )
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
                say("This cannot go on", "So geht es nicht weiter"),
                say(
                    "The application that sent you here asked for something that it cannot have. Go back to it and try again. If that does not help, tell whoever runs it:",
                    "Die Anwendung, von der Sie kommen, hat etwas angefragt, das sie nicht bekommt. Gehen Sie zurück und versuchen Sie es noch einmal. Wenn das nicht hilft, sagen Sie es denen, die sie betreiben:"
                )
            )
        case .forbidden:
            (
                say("Not available", "Nicht verfügbar"),
                say("This is closed at the moment.", "Das ist zurzeit geschlossen.")
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
                        "The request could not be read. Please start again.",
                        "Die Anfrage war nicht lesbar. Bitte beginnen Sie noch einmal von vorn.")
                )
        }
    }
}
