internal import HTML
internal import HTTP
internal import Identity

/// The page on which a person proves an address for a tenant's app.
struct HostedPage {
    let visit: PageVisit
    let asked: VerifyRequest
    /// The typed address, and its error.
    var typed = ""
    var wrong: String?
    /// What is asked of a person before a code is sent.
    var captcha: CaptchaWidget?
    var notice: String?
    /// Seconds until another code is sent, where all clients together asked for too many.
    var limitedFor: Int64?
    /// The form is sent without a press of its button, where scripts run.
    var goesOn = false
    /// The realm's OpenID providers, and the one that the app wants to go on to at once.
    var providers: [ProviderLabel] = []
    var goesOnTo: String?

    static let path = "/app"
    static let codePath = "/app/code"
    static let continuePath = "/app/continue"
    static let cancelPath = "/app/cancel"
    static let waitPath = "/app/wait"
    static let statePath = "/app/wait/state"

    private var say: LocalizedText { visit.say }

    // MARK: - The address

    func address(_ status: Status = .ok) -> Response {
        let isPhone = asked.kind == .phone
        return visit.page(
            title, status: status, script: goesOn || goesOnTo != nil ? DirectScript.path : nil,
            leadsAway: true,
            foreignScript: captcha.map { ($0.kind.script, $0.kind.sources) }
        ) {
            Page.card {
                HTML.element(.h1) { title }
                asksFor
                Parts.note(.bad, notice)
                visit.form(asked.path(Self.path), goesOn ? .id("direct") : .when(false, .hidden)) {
                    if asked.asOther { Parts.hidden("other", "true") }
                    Field(
                        name: "input",
                        label: isPhone
                            ? say("Phone number", "Telefonnummer")
                            : say("E-mail address", "E-Mail-Adresse"),
                        type: isPhone ? "tel" : "email", value: typed,
                        autocomplete: isPhone ? "tel" : "email", isFocused: true,
                        hint: isPhone
                            ? say(
                                "With the country, such as +41 78 123 45 67.",
                                "Mit Landesvorwahl, etwa +41 78 123 45 67.") : nil,
                        wrong: wrong
                    ).html
                    captcha?.html
                    if isPhone { channelButtons } else { mailButton }
                }
                providerForms
                cancel
            }
        }
    }

    private var title: String {
        asked.kind == .phone
            ? say("Confirm your phone number", "Telefonnummer bestätigen")
            : say("Confirm your e-mail address", "E-Mail-Adresse bestätigen")
    }

    private var asksFor: HTML? {
        asked.tenant.name.map { name in
            HTML.element(.p, .class("soft break")) {
                say("to go on to ", "um fortzufahren zu ")
                HTML.element(.strong) { name }
            }
        }
    }

    private var mailButton: HTML {
        Parts.button(
            asked.method == .link
                ? say("Send me a link", "Link senden") : say("Send me a code", "Code senden"))
    }

    /// The first one goes with the Enter key.
    private var channelButtons: HTML {
        HTML {
            for (index, channel) in asked.channels.enumerated() {
                Parts.button(
                    text(of: channel), name: "channel", value: channel.rawValue,
                    look: index == 0 ? nil : "second")
            }
        }
    }

    private func text(of channel: Channel) -> String {
        let way = channel == .whatsapp ? "WhatsApp" : "SMS"
        return asked.method == .link
            ? say("Send me a link by \(way)", "Link per \(way) senden")
            : say("Send me a code by \(way)", "Code per \(way) senden")
    }

    private var cancel: HTML {
        HTML.element(.div, .class("links")) {
            Parts.link(
                say("Cancel", "Abbrechen"), to: asked.path(Self.cancelPath))
        }
    }

    // MARK: - A browser that is recognised

    func recognised(as address: String) -> Response {
        visit.page(title, leadsAway: true) {
            Page.card {
                HTML.element(.h1) { title }
                asksFor
                visit.form(asked.path(Self.continuePath)) {
                    Parts.button(
                        say(
                            "Continue as \(Parts.address(address))",
                            "Weiter als \(Parts.address(address))"))
                }
                HTML.element(.div, .class("links")) {
                    Parts.link(
                        asked.kind == .phone
                            ? say("Use another number", "Andere Nummer verwenden")
                            : say("Use another address", "Andere Adresse verwenden"),
                        to: asked.path(Self.path, [("other", "true")]))
                }
                cancel
            }
        }
    }

    // MARK: - The code

    enum Step {
        case code(isWrong: Bool)
        case second(code: String, isWrong: Bool)
    }

    func code(_ sent: SentCode, _ sealed: String, _ step: Step, _ status: Status = .ok) -> Response
    {
        let action = asked.path(Self.codePath, [("to", sealed)])
        if case .second(let code, let isWrong) = step {
            return SecondFactorPage.response(
                visit, isWrong, status, action: action, leadsAway: true
            ) { Parts.hidden("code", code) }
        }
        var isWrong = false
        if case .code(true) = step { isWrong = true }
        let address = Parts.address(sent.address)
        return visit.page(
            say("Enter the code", "Code eingeben"), status: status, leadsAway: true
        ) {
            Page.card {
                HTML.element(.h1) { say("Enter the code", "Code eingeben") }
                HTML.element(.p) {
                    say(
                        "A 6-digit code is on its way to ",
                        "Ein sechsstelliger Code ist unterwegs an ")
                    HTML.element(.strong, .class("break")) { address }
                    ". "
                    say.slowDelivery
                }
                Parts.note(
                    .good,
                    limitedFor.map(say.noMoreCodes) ?? (sent.isAnother ? say.anotherCode : nil))
                visit.form(action) {
                    Field(
                        name: "code", label: say("Code", "Code"), autocomplete: "one-time-code",
                        isCode: true, isFocused: true, limit: 12,
                        wrong: isWrong
                            ? say(
                                "That code is wrong or has expired. After a few attempts you need a new one.",
                                "Dieser Code ist falsch oder abgelaufen. Nach einigen Versuchen brauchen Sie einen neuen."
                            ) : nil
                    ).html
                    Parts.button(say("Confirm", "Bestätigen"))
                }
                again(sent, sealed)
            }
        }
    }

    /// Another code, by the same channel or by another one.
    private func again(_ sent: SentCode, _ sealed: String) -> HTML {
        HTML.element(.div, .class("links")) {
            // With a task to solve it is asked for on the page before.
            if captcha == nil { anotherCode(sent, sealed) }
            Parts.link(
                asked.kind == .phone
                    ? say("Use another number", "Andere Nummer verwenden")
                    : say("Use another address", "Andere Adresse verwenden"),
                to: asked.path(Self.path, [("other", "true")]))
        }
    }

    private func anotherCode(_ sent: SentCode, _ sealed: String) -> HTML {
        visit.form(asked.path(Self.path)) {
            Parts.hidden("input", sent.address)
            Parts.hidden("to", sealed)
            if asked.kind == .phone {
                for channel in asked.channels {
                    Parts.button(
                        text(of: channel), name: "channel", value: channel.rawValue,
                        look: "plain")
                }
            } else {
                Parts.button(say("Send a new code", "Neuen Code senden"), look: "plain")
            }
        }
    }
}
