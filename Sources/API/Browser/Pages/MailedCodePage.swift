internal import HTML
internal import HTTP

/// Where an owner types the code that was mailed, beside the other factor.
struct OwnerCodePage {
    let visit: PageVisit
    let action: String
    let isWrong: Bool
    /// The checkbox beside the code.
    var check: HTML?

    func response(@HTMLBuilder hidden: () -> HTML) -> Response {
        let say = visit.say
        return visit.page(
            say("Second step", "Zweiter Schritt"), status: isWrong ? .forbidden : .ok,
            leadsAway: true
        ) {
            Page.card {
                HTML.element(.h1) { say("Check your e-mail", "Posteingang prüfen") }
                HTML.element(.p) {
                    say(
                        "A 6-digit code is on its way to you.",
                        "Ein sechsstelliger Code ist unterwegs zu Ihnen.")
                }
                visit.form(action) {
                    hidden()
                    Field(
                        name: "two-factor-passcode", label: say("Code", "Code"),
                        autocomplete: "one-time-code", isCode: true, isFocused: true, limit: 12,
                        wrong: isWrong
                            ? say(
                                "That code is wrong or has expired.",
                                "Dieser Code ist falsch oder abgelaufen.") : nil
                    ).html
                    if let check { check }
                    Parts.button(say("Continue", "Weiter"))
                }
            }
        }
    }
}
