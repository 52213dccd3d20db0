internal import HTML
internal import HTTP
internal import Identity

/// The page that a tenant's own page shows in a frame. It speaks with that page by messages: see `FrameScript`.
struct FramePage {
    let look: PageLook
    let asked: FrameRequest
    let captcha: CaptchaWidget?

    private var say: LocalizedText { look.say }

    func response() -> Response {
        Page(
            title: title, look: look, script: FrameScript.path,
            foreignScript: captcha.map { ($0.kind.script, $0.kind.sources) },
            framedBy: asked.origin,
            content: Page.card {
                HTML.element(.h1) { title }
                HTML.element(.p, .class("wrong"), .id("frame-error"), .role("alert"), .hidden) {}
                // What is told where the app could do nothing with the code.
                HTML.element(.p, .id("frame-failed"), .hidden) {
                    say(
                        "That didn't work. Please try again.",
                        "Das hat nicht geklappt. Bitte versuchen Sie es noch einmal.")
                }
                HTML.element(.p, .id("frame-another"), .role("status"), .hidden) {
                    say(
                        "It was sent again. What came before works until it expires, and may be the same.",
                        "Es wurde noch einmal gesendet. Was vorher kam, gilt, bis es abläuft, und kann dasselbe sein."
                    )
                }
                addressForm
                codeForm
                waiting
                again
                HTML.element(.div, .id("frame-done"), .role("status"), .hidden) {
                    HTML.element(.p) { say("Confirmed.", "Bestätigt.") }
                }
            }
        ).response()
    }

    private var isPhone: Bool { asked.kind == .phone }

    private var title: String {
        isPhone
            ? say("Confirm your phone number", "Telefonnummer bestätigen")
            : say("Confirm your e-mail address", "E-Mail-Adresse bestätigen")
    }

    private var addressForm: HTML {
        HTML.element(.form, .id("frame-address"), .method("post"), .action(FrameRequest.sendPath)) {
            Field(
                name: "identifier",
                label: isPhone
                    ? say("Phone number", "Telefonnummer")
                    : say("E-mail address", "E-Mail-Adresse"),
                type: isPhone ? "tel" : "email", autocomplete: isPhone ? "tel" : "email"
            ).html
            captcha?.html
            for channel in isPhone ? asked.channels : [.mail] {
                Parts.button(
                    channel == .mail
                        ? say("Send me a code", "Code senden")
                        : channel == .sms
                            ? say("Send me a code by SMS", "Code per SMS senden")
                            : say("Send me a code by WhatsApp", "Code per WhatsApp senden"),
                    name: "channel", value: channel.rawValue,
                    look: channel == .whatsapp ? "second" : nil)
                // What the button says where the page around asks for links.
                HTML.element(.p, .id("frame-link-\(channel.rawValue)"), .hidden) {
                    channel == .mail
                        ? say("Send me a link", "Link senden")
                        : channel == .sms
                            ? say("Send me a link by SMS", "Link per SMS senden")
                            : say("Send me a link by WhatsApp", "Link per WhatsApp senden")
                }
            }
        }
    }

    private var codeForm: HTML {
        HTML.element(
            .form, .id("frame-code"), .method("post"), .action(FrameRequest.checkPath), .hidden
        ) {
            Field(
                name: "code",
                label: say("The 6-digit code that we sent", "Der sechsstellige Code von uns"),
                autocomplete: "one-time-code", isCode: true, limit: 12
            ).html
            Parts.button(say("Confirm", "Bestätigen"))
        }
    }

    /// Beside the code and the link: how to have another one sent, and to another address.
    private var again: HTML {
        HTML.element(
            .form, .id("frame-again"), .class("links"), .method("post"),
            .action(FrameRequest.sendPath), .hidden
        ) {
            HTML.element(.p, .class("soft")) { say.slowDelivery }
            if captcha != nil {
                // With a task to solve it is asked for where the address is.
                Parts.button(say("Send again", "Noch einmal senden"), name: "other", look: "plain")
            } else if isPhone {
                for channel in asked.channels {
                    Parts.button(
                        channel == .sms
                            ? say("Send again by SMS", "Noch einmal per SMS senden")
                            : say("Send again by WhatsApp", "Noch einmal per WhatsApp senden"),
                        name: "channel", value: channel.rawValue, look: "plain")
                }
            } else {
                Parts.button(
                    say("Send again", "Noch einmal senden"), name: "channel",
                    value: Channel.mail.rawValue, look: "plain")
            }
            Parts.button(
                isPhone
                    ? say("Use another number", "Andere Nummer verwenden")
                    : say("Use another address", "Andere Adresse verwenden"),
                name: "other", look: "plain")
        }
    }

    private var waiting: HTML {
        HTML.element(.div, .id("frame-wait"), .role("status"), .hidden) {
            HTML.element(.p) {
                say(
                    "A link is on its way. Open it on any device; then this page goes on. It shows this number: ",
                    "Ein Link ist unterwegs. Öffnen Sie ihn auf einem beliebigen Gerät; dann geht es hier weiter. Dort steht diese Nummer: "
                )
                HTML.element(.strong, .id("frame-number")) {}
            }
        }
    }
}
