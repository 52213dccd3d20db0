internal import HTML
internal import HTTP
internal import Identity

/// The page that a tenant's own page shows in a frame. It speaks with that page by messages: see `FrameScript`.
struct FramePage {
    let look: PageLook
    let asked: FrameRequest
    let captcha: CaptchaWidget?

    private var say: Words { look.say }

    func response() -> Response {
        Page(
            title: title, look: look, script: FrameScript.path,
            foreignScript: captcha.map { ($0.kind.script, $0.kind.sources) },
            framedBy: asked.origin,
            content: Page.card {
                HTML.element(.h1) { title }
                HTML.element(.p, .class("wrong"), .id("frame-error"), .role("alert"), .hidden) {}
                addressForm
                codeForm
                waiting
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
