internal import HTML
internal import HTTP
internal import Identity

/// Where an owner types the code that was mailed for an app for which no store vouches.
struct CertificationPage {
    let visit: PageVisit
    let asked: InstallationAuthorization
    let token: String
    var isWrong = false

    func response(_ status: Status = .ok) -> Response {
        let say = visit.say
        let name = asked.client.metadata?.clientName ?? ""
        return visit.page(say("Is this your app?", "Ist das Ihre App?"), status: status) {
            Page.card {
                HTML.element(.h1) { say("Is this your app?", "Ist das Ihre App?") }
                HTML.element(.p, .class("break")) {
                    HTML.element(.strong) { name }
                    say(
                        " wants full access to your data, and no app store has verified it. "
                            + "We've e-mailed you a 6-digit code.",
                        " möchte vollen Zugriff auf Ihre Daten, und kein App-Store hat die App "
                            + "bestätigt. Wir haben Ihnen einen sechsstelligen Code geschickt.")
                }
                visit.form("/auth/clients/\(asked.client.clientID)/flagship") {
                    Parts.hidden("token", token)
                    Parts.hidden("next", asked.place)
                    Field(
                        name: "code", label: say("Code", "Code"), autocomplete: "one-time-code",
                        isCode: true, isFocused: true, limit: 12,
                        wrong: isWrong
                            ? say(
                                "That code is wrong or has expired.",
                                "Dieser Code ist falsch oder abgelaufen.") : nil
                    ).html
                    Parts.button(say("Yes, this is my app", "Ja, das ist meine App"))
                }
                HTML.element(.div, .class("links")) {
                    Parts.link(say("Send a new code", "Neuen Code senden"), to: asked.place)
                }
            }
        }
    }
}

/// Where an owner lets an app in.
struct InstallationConsentPage {
    let visit: PageVisit
    let asked: InstallationAuthorization

    func response() -> Response {
        let say = visit.say
        let name = asked.client.metadata?.clientName ?? ""
        return visit.page(say("Allow \(name)?", "\(name) erlauben?"), leadsAway: true) {
            Page.card {
                HTML.element(.h1) { say("Allow \(name)?", "\(name) erlauben?") }
                HTML.element(.h2) { say("It would be able to", "Die App könnte dann") }
                HTML.element(.ul, .class("scopes")) {
                    for scope in asked.scope {
                        if scope == Installation.scope {
                            HTML.element(.li) {
                                say(
                                    "see and change all your data",
                                    "alle Ihre Daten sehen und ändern")
                            }
                        } else {
                            ScopeItem.item(scope, isRemembered: false, say)
                        }
                    }
                }
                visit.form(InstallationAuthorizeRoutes.path) {
                    for pair in asked.pairs { Parts.hidden(pair.name, pair.value) }
                    HTML.element(.div, .class("pair")) {
                        Parts.button(
                            say("Deny", "Ablehnen"), name: "decision", value: "deny",
                            look: "second")
                        Parts.button(say("Allow", "Erlauben"), name: "decision", value: "allow")
                    }
                }
            }
        }
    }
}
