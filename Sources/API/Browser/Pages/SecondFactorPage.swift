internal import HTML
internal import HTTP
internal import Identity

/// Where a code of the authenticator app is typed.
enum SecondFactorPage {
    /// Asks for a code of the authenticator app, after a first factor that was good.
    static func response(
        _ visit: PageVisit, _ isWrong: Bool, _ status: Status = .ok, action: String,
        leadsAway: Bool, @HTMLBuilder hidden: () -> HTML
    ) -> Response {
        let say = visit.say
        return visit.page(
            say("Second step", "Zweiter Schritt"), status: status, leadsAway: leadsAway
        ) {
            Page.card {
                HTML.element(.h1) { say("Confirm it is you", "Bestätigen Sie, dass Sie es sind") }
                HTML.element(.p) {
                    say(
                        "Enter the current code from your authenticator app.",
                        "Geben Sie den aktuellen Code Ihrer Authenticator-App ein.")
                }
                visit.form(action) {
                    hidden()
                    field(visit, isWrong).html
                    Parts.button(say("Continue", "Weiter"))
                }
            }
        }
    }

    static func field(_ visit: PageVisit, _ isWrong: Bool) -> Field {
        let say = visit.say
        return Field(
            name: "totp", label: say("Authenticator code", "Code der Authenticator-App"),
            autocomplete: "one-time-code", isFocused: true, limit: 32,
            hint: say(
                "Don't have the app? Enter one of your recovery codes instead.",
                "App nicht zur Hand? Geben Sie stattdessen einen Wiederherstellungscode ein."
            ),
            wrong: isWrong
                ? say(
                    "That code is wrong, or there were too many attempts. Try the next code; if that fails too, wait a few minutes.",
                    "Dieser Code ist falsch, oder es waren zu viele Versuche. Nehmen Sie den nächsten Code; geht auch der nicht, warten Sie einige Minuten."
                )
                : nil)
    }
}
