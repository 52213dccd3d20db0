internal import HTML
internal import HTTP
internal import Identity
internal import Values

extension LocalizedText {
    /// Whether a code or a link arrives is known later than the page is shown.
    var slowDelivery: String {
        self(
            "It may take a moment. If nothing comes, try again or another way.",
            "Das kann einen Moment dauern. Kommt nichts an, versuchen Sie es noch einmal oder auf einem anderen Weg."
        )
    }
}

/// The pages of a link: the one that waits until it was opened, and the one that it opens, mostly elsewhere.
extension HostedPage {
    /// Goes on by itself where scripts run.
    func waiting(
        _ sent: SentCode, _ sealed: String, number: String, isEarly: Bool = false
    ) -> Response {
        let say = visit.say
        return visit.page(
            say("Open the link", "Link öffnen"), status: isEarly ? .badRequest : .ok,
            script: WaitingScript.path, leadsAway: true
        ) {
            Page.card {
                HTML.element(.h1) { say("Open the link", "Link öffnen") }
                HTML.element(.p) {
                    say("A link is on its way to ", "Ein Link ist unterwegs an ")
                    HTML.element(.strong, .class("break")) { Parts.address(sent.address) }
                    say(
                        ". Open it on any device; then this page goes on. It shows this number:",
                        ". Öffnen Sie ihn auf einem beliebigen Gerät; dann geht es hier weiter. Dort steht diese Nummer:"
                    )
                }
                HTML.element(.p) { HTML.element(.strong) { number } }
                HTML.element(.p, .class("soft")) { say.slowDelivery }
                Parts.note(
                    .bad,
                    isEarly
                        ? say(
                            "The link was not opened yet, or is too old.",
                            "Der Link wurde noch nicht geöffnet oder ist zu alt.") : nil)
                visit.form(asked.path(Self.waitPath, [("to", sealed)]), .id("wait")) {
                    Parts.button(say("I opened the link", "Ich habe den Link geöffnet"))
                }
                HTML.element(.div, .class("links")) {
                    Parts.link(
                        say("Send another link", "Einen anderen Link senden"),
                        to: asked.path(Self.path, [("other", "true")]))
                }
            }
        }
    }

    /// Mail scanners open links as well: nothing is confirmed before the button is pressed.
    static func opened(_ visit: PageVisit, _ action: String, number: String?) -> Response {
        let say = visit.say
        return visit.page(say("Confirm your address", "Adresse bestätigen")) {
            Page.card {
                HTML.element(.h1) { say("Is this you?", "Sind Sie das?") }
                HTML.element(.p) {
                    say(
                        "Confirm only if you asked for this link a moment ago, and if the page where you did shows the number ",
                        "Bestätigen Sie nur, wenn Sie diesen Link gerade selbst angefordert haben und wenn auf jener Seite diese Nummer steht: "
                    )
                    HTML.element(.strong) { number ?? "–" }
                    "."
                }
                visit.form(action) {
                    Parts.button(say("Yes, confirm", "Ja, bestätigen"))
                }
            }
        }
    }

    static func confirmed(_ visit: PageVisit) -> Response {
        visit.notice(
            visit.say("Confirmed", "Bestätigt"),
            visit.say(
                "Go back to the page where you asked for the link: it goes on by itself.",
                "Gehen Sie zurück zu der Seite, auf der Sie den Link angefordert haben: Dort geht es von selbst weiter."
            ))
    }

    static func expired(_ visit: PageVisit) -> Response {
        visit.notice(
            visit.say("This link is over", "Dieser Link gilt nicht mehr"), visit.say.linkExpired,
            .badRequest)
    }
}
